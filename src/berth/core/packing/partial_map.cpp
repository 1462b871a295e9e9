#include "partial_map.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace berth::packing {

std::size_t Case::items() const { return std::accumulate(members.begin(), members.end(), std::size_t{0}); }

PartialMap::PartialMap(const Case& what)
    : case_(&what),
      resources_only_(what.hosts.columns() == 0 && what.shared.empty()),
      left_(what.members.begin(), what.members.end()),
      used_(what.bins()),
      fitting_(what.kinds()),
      room_(what.room),
      with_(what.bins(), what.kinds()),
      near_(what.ranked() ? what.bins() : 0, what.kinds()),
      hosts_(what.bins(), what.hosts.columns(), ~std::uint64_t{0}),
      plain_(what.bins(), (what.kinds() + 63) / 64),
      preferred_(what.bins(), (what.kinds() + 63) / 64),
      actions_in_(what.bins(), 3),
      fullness_(what.fullness),
      path_(what.items()) {
    std::vector<char> waiting(what.bins());
    for (const auto bin : what.following) {
        if (bin >= 0) waiting[bin] = true;
    }
    for (const SharedLimit& limit : what.shared) shared_room_.push_back(limit.room);
    hopeless_kinds_ = static_cast<int>(what.kinds());
    for (std::size_t bin = 0; bin < what.bins(); ++bin) {
        if (!waiting[bin]) open(static_cast<int>(bin));
    }
}

void PartialMap::place(Action action) {
    const Case& what = *case_;
    const auto [kind, bin] = action;
    path_[placed_++] = action;
    kept_ += with_[bin][kind];
    if (--left_[kind] == 0) leave_out(kind);
    const auto free = room_[bin];
    for (std::size_t resource = 0; resource < free.size(); ++resource) free[resource] -= what.need[kind][resource];
    for (const auto& [other, traffic] : what.partners[kind]) with_[bin][other] += traffic;
    for (std::size_t word = 0; word < what.hosts.columns(); ++word) hosts_[bin][word] &= what.hosts[kind][word];
    if (what.ranked()) {
        fullness_[bin] += what.share[kind][bin];
        for (std::size_t there = 0; there < what.bins(); ++there) {
            const double nearness = what.nearness[bin][there];
            for (const auto& [other, traffic] : what.partners[kind]) near_[there][other] += traffic * nearness;
        }
    }
    if (++used_[bin] == 1) {
        ++opened_;
        if (const auto next = what.following[bin]; next >= 0) {
            open(static_cast<int>(next));
        }
    }
    look_again(bin);
    if (!what.shared.empty()) take_shared_room(action);
}

inline void PartialMap::set_status(int bin, int kind, Status now) {
    const Status was = status(bin, kind);
    --actions_in_[bin][was];
    --actions_[was];
    ++actions_in_[bin][now];
    ++actions_[now];
    const std::uint64_t bit = std::uint64_t{1} << (kind % 64);
    if (was != no) (was == plain ? plain_ : preferred_)[bin][kind / 64] ^= bit;
    if (now != no) (now == plain ? plain_ : preferred_)[bin][kind / 64] ^= bit;
    if (was == no && fitting_[kind]++ == 0) --hopeless_kinds_;
    if (now == no && --fitting_[kind] == 0) ++hopeless_kinds_;
}

// Nothing of a kind is left: it may go nowhere, and is not without a bin either.
void PartialMap::leave_out(int kind) {
    for (int bin = 0; fitting_[kind] > 0; ++bin) {
        if (status(bin, kind) != no) set_status(bin, kind, no);
    }
    --hopeless_kinds_;
}

// Whether what is not a resource lets an item go into a bin: a host in common, and room that bins share.
bool PartialMap::fits_otherwise(int bin, int kind) const {
    const Case& what = *case_;
    if (what.hosts.columns() > 0) {
        bool common = false;
        for (std::size_t word = 0; word < what.hosts.columns(); ++word) {
            common |= (hosts_[bin][word] & what.hosts[kind][word]) != 0;
        }
        if (!common) return false;
    }
    for (std::size_t limit = 0; limit < what.shared.size(); ++limit) {
        const SharedLimit& shared = what.shared[limit];
        if (shared.needed[kind] > shared_room_[limit][shared.place_of_bin[bin]]) return false;
    }
    return true;
}

void PartialMap::open(int bin) {
    const auto allowed = case_->allowed[bin];
    for (int kind = 0; kind < static_cast<int>(allowed.size()); ++kind) {
        if (!allowed[kind] || left_[kind] == 0 || !fits(bin, kind)) continue;
        set_status(bin, kind, liked(bin, kind) ? preferred : plain);
    }
}

// A bin is looked at again when something was put into it: what may no longer go there, and what has a reason now.
void PartialMap::look_again(int bin) {
    for_fitting(bin, [&](int kind) {
        const Status now = !fits(bin, kind) ? no : liked(bin, kind) ? preferred : plain;
        if (now != status(bin, kind)) set_status(bin, kind, now);
    });
}

void PartialMap::take_shared_room(Action action) {
    for (std::size_t limit = 0; limit < case_->shared.size(); ++limit) {
        const SharedLimit& shared = case_->shared[limit];
        if (shared.needed[action.kind] <= 0.0) continue;
        const auto place = shared.place_of_bin[action.bin];
        shared_room_[limit][place] -= shared.needed[action.kind];
        for (const int bin : shared.bins_at[place]) look_again(bin);
    }
}

void PartialMap::roll_out(Random& random) {
    while (!whole() && !hopeless()) place(case_->ranked() ? best_ranked(random) : any_preferred(random));
}

// Any action with a reason, else any.
Action PartialMap::any_preferred(Random& random) const {
    const Status wanted = actions_[preferred] > 0 ? preferred : plain;
    int nth = static_cast<int>(random.below(actions_[wanted]));
    int bin = 0;
    while (nth >= actions_in_[bin][wanted]) nth -= actions_in_[bin++][wanted];
    const auto kinds = (wanted == plain ? plain_ : preferred_)[bin];
    int word = 0;
    while (nth >= std::popcount(kinds[word])) nth -= std::popcount(kinds[word++]);
    std::uint64_t bits = kinds[word];
    while (nth-- > 0) bits &= bits - 1;
    return {word * 64 + std::countr_zero(bits), bin};
}

Action PartialMap::best_ranked(Random& random) const {
    BestAction best(random);
    for (int bin = 0; bin < static_cast<int>(used_.size()); ++bin) {
        for_fitting(bin, [&](int kind) { best.offer({kind, bin}, score(bin, kind)); });
    }
    return best.chosen;
}

double PartialMap::crossing(double all_traffic) const {
    if (case_->uniform) {
        const double found = all_traffic - kept_;
        // what rounding leaves of all traffic is nothing
        return found > 1e-12 * all_traffic ? found : 0.0;
    }
    double found = 0.0;
    for (std::size_t one = 0; one < placed_; ++one) {
        const auto [kind, bin] = path_[one];
        for (std::size_t other = 0; other < one; ++other) {
            const auto [partner, there] = path_[other];
            if (bin == there) continue;
            // no traffic needs no link: 0 x infinity is not a number
            if (case_->traffic[kind][partner] > 0.0) found += case_->traffic[kind][partner] * case_->distance[bin][there];
            if (case_->traffic[partner][kind] > 0.0) found += case_->traffic[partner][kind] * case_->distance[there][bin];
        }
    }
    return found;
}

}  // namespace berth::packing
