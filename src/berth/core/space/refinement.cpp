// Better nodes for units by measured delays of a few near ones (paper 003 measures none; this is berth's own step).
//
// A delay between two nodes costs a probe unless it is known: because two units exchange a stream over it, or from an
// earlier probe. Nodes are in the numbers of a small selection.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <deque>

#include "room.hpp"
#include "streams.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace berth::space {
namespace {

// What a stream between two nodes without a link costs: more than any usage.
constexpr double no_link = 1e300;
// A gain is more than rounding.
constexpr double less = 1.0 - 1e-9;

// A selection of nodes, and what is known of the delays between them.
struct ProbedNodes {
    std::size_t size() const { return numbers.size(); }
    bool is_known(Number here, Number there) const { return known[here * size() + there]; }
    double measured(Number here, Number there) const { return delays[delay_rows[here]][delay_rows[there]]; }

    // Measures a delay, both ways by one probe, unless it is known.
    void probe(Number here, Number there) {
        if (is_known(here, there)) return;
        known[here * size() + there] = true;
        known[there * size() + here] = true;
        probed.push_back(numbers[here]);
        probed.push_back(numbers[there]);
    }

    struct Estimate {
        double delay;
        bool measured_before;
    };
    Estimate estimate(Number here, Number there) const {
        if (remembered.size() > 0) {
            const double before = remembered[here][there];
            if (!std::isnan(before)) return {before, true};
        }
        return {std::max(distance(positions[here], positions[there]) + extra[here] + extra[there], 0.0), false};
    }

    std::span<const Number> numbers;  // in the network
    Places positions;
    std::span<const double> extra;  // what each node's delays are longer than distances say, half of it
    Places delays;                  // as measured; NaN: no link
    std::span<const Number> delay_rows;
    Places remembered;  // as measured for earlier plans, NaN elsewhere; empty: none
    std::span<bool> known;
    std::vector<Number> probed;  // pairs of nodes, in the network's numbers
};

struct Effort {
    std::size_t most_nodes;  // nodes that are probed in a try
    int most_tries;          // tries of a unit
    // Nodes are probed whose estimated usage is at most 1 + this x the present one; what is not yet measured counts
    // with 1 - this of its estimate.
    double doubt;
    bool squared;  // usage by squared delays
};

class Refinement {
  public:
    Refinement(const Streams& streams, Room& room, ProbedNodes& nodes, std::span<const bool> movable,
               std::span<Number> host, Rows<const Number> near, Rows<const bool> may_host, Effort effort)
        : streams_(streams),
          room_(room),
          nodes_(nodes),
          movable_(movable),
          host_(host),
          near_(near),
          may_host_(may_host),
          effort_(effort),
          inside_(host.size()),
          tries_(host.size()),
          queued_(host.size()) {}

    // Moves units, alone or with all that share their node, to nodes where measured usage is lower. What moves tries
    // again, and so do its neighbours.
    void run(std::span<const Number> first) {
        for (const Number unit : first) wait(unit);
        while (!queue_.empty()) {
            const Number unit = queue_.front();
            queue_.pop_front();
            queued_[unit] = false;
            if (tries_[unit]++ >= effort_.most_tries) continue;
            gather(unit, false);
            Number best = better_node();
            if (best < 0) {
                gather(unit, true);
                best = members_.size() > 1 ? better_node() : -1;
            }
            if (best >= 0) move_to(best);
        }
    }

    const std::vector<Number>& moved() const { return moved_; }

  private:
    void wait(Number unit) {
        if (!movable_[unit] || queued_[unit]) return;
        queue_.push_back(unit);
        queued_[unit] = true;
    }

    // The unit alone or, together, with all movable ones at its node that it is connected to.
    void gather(Number unit, bool together) {
        for (const Number member : members_) inside_[member] = false;
        members_.assign(1, unit);
        inside_[unit] = true;
        for (std::size_t k = 0; together && k < members_.size(); ++k) {
            for (const Number entry : streams_.entries(members_[k])) {
                const Number other = streams_.neighbours[entry];
                if (movable_[other] && !inside_[other] && host_[other] == host_[unit]) {
                    inside_[other] = true;
                    members_.push_back(other);
                }
            }
        }
    }

    void move_to(Number node) {
        for (const Number member : members_) {
            moved_.push_back(member);
            room_.take(member, nodes_.numbers[host_[member]]);
            room_.put(member, nodes_.numbers[node]);
            host_[member] = node;
        }
        for (const Number member : members_) {
            wait(member);
            for (const Number entry : streams_.entries(member)) wait(streams_.neighbours[entry]);
        }
    }

    // The nodes that the group may try: near ones and its neighbours' that may host it and have room.
    std::vector<Number> choices() {
        std::vector<char> listed(nodes_.size());
        std::vector<Number> found;
        const Number present = host_[members_[0]];
        listed[present] = true;
        const auto consider = [&](Number node) {
            if (node < 0 || listed[node]) return;
            listed[node] = true;
            const bool allowed = std::ranges::all_of(members_, [&](Number mate) { return may_host_[mate][node]; });
            if (allowed && room_.fits_together(members_, nodes_.numbers[node], nodes_.numbers[present])) {
                found.push_back(node);
            }
        };
        for (const Number member : members_) {
            for (const Number entry : streams_.entries(member)) {
                const Number other = streams_.neighbours[entry];
                if (!inside_[other]) consider(host_[other]);
            }
            for (const Number node : near_[member]) consider(node);
        }
        return found;
    }

    // What the streams of one entry cost between two nodes, as measured.
    double cost(Number entry, Number here, Number there) const {
        const auto one_way = [&](bool flows, double rate, double delay) {
            if (!flows) return 0.0;
            return std::isnan(delay) ? no_link : rate * weighted(delay);
        };
        return one_way(streams_.sends[entry], streams_.forward[entry], nodes_.measured(here, there)) +
               one_way(streams_.receives[entry], streams_.backward[entry], nodes_.measured(there, here));
    }
    double weighted(double delay) const { return effort_.squared ? delay * delay : delay; }

    struct Usage {
        double total;
        Number heaviest;  // the other end of the delay that matters most of those not known; -1: all are known
    };

    // The usage of the group on a node, as far as it is known, and estimated less the doubt elsewhere.
    Usage usage_at(Number node, double doubt) const {
        Usage found{0.0, -1};
        double weight = -1.0;
        for (const Number member : members_) {
            for (const Number entry : streams_.entries(member)) {
                const Number other = streams_.neighbours[entry];
                const Number there = host_[other];
                if (inside_[other] || there == node) continue;
                if (nodes_.is_known(node, there)) {
                    found.total += cost(entry, node, there);
                    continue;
                }
                const auto [delay, measured_before] = nodes_.estimate(node, there);
                const double part = (streams_.forward[entry] + streams_.backward[entry]) * weighted(delay);
                found.total += measured_before ? part : (1.0 - doubt) * part;
                if (part > weight) {
                    found.heaviest = there;
                    weight = part;
                }
            }
        }
        return found;
    }

    // The best of the nodes that the group tries; -1: it is on the best one.
    Number better_node() {
        const Number present = host_[members_[0]];
        for (const Number member : members_) {
            for (const Number entry : streams_.entries(member)) {
                const Number other = streams_.neighbours[entry];
                if (!inside_[other]) nodes_.probe(present, host_[other]);
            }
        }
        struct Choice {
            double estimate;
            std::size_t place;  // in the list: ties go to the first
            Number node;
        };
        double lowest = usage_at(present, 0.0).total;
        std::vector<Choice> tried;
        for (const Number node : choices()) tried.push_back({usage_at(node, 0.0).total, tried.size(), node});
        const std::size_t most = std::min(tried.size(), effort_.most_nodes);
        std::ranges::partial_sort(tried, tried.begin() + most, {},
                                  [](const Choice& choice) { return std::pair(choice.estimate, choice.place); });
        Number best = -1;
        for (const Choice& choice : std::span(tried).first(most)) {
            if (lowest <= 0.0 || choice.estimate > lowest * (1.0 + effort_.doubt)) break;
            if (const double usage = measured_usage(choice.node, lowest); usage < lowest * less) {
                best = choice.node;
                lowest = usage;
            }
        }
        return best;
    }

    // Measures what matters most at a node, until all is known or it can't be better any more (then infinite).
    double measured_usage(Number node, double lowest) {
        while (true) {
            const Usage usage = usage_at(node, effort_.doubt);
            if (usage.heaviest < 0) return usage.total;
            if (usage.total >= lowest) return std::numeric_limits<double>::infinity();
            nodes_.probe(node, usage.heaviest);
        }
    }

    const Streams& streams_;
    Room& room_;
    ProbedNodes& nodes_;
    std::span<const bool> movable_;
    std::span<Number> host_;
    Rows<const Number> near_;
    Rows<const bool> may_host_;
    Effort effort_;
    std::vector<Number> members_;  // the group that looks for a node
    std::vector<char> inside_;     // whether each unit is in it
    std::vector<int> tries_;
    std::deque<Number> queue_;
    std::vector<char> queued_;
    std::vector<Number> moved_;
};

// The units that moved, one entry for each move, and the pairs of nodes that were probed, one node after the other.
auto refine(const Streams& streams, Room& room, const Vector<Number>& numbers, const Matrix<double>& positions,
            const Vector<double>& extra, const Matrix<double>& delays, const Vector<Number>& delay_rows,
            const Matrix<double>& remembered, const MutableMatrix<bool>& known, const Vector<bool>& movable,
            const MutableVector<Number>& host, const Matrix<Number>& near, const Matrix<bool>& may_host,
            const Vector<Number>& first, std::size_t most_nodes, int most_tries, double doubt, bool squared) {
    ProbedNodes nodes{view(numbers),    Places(positions),  view(extra),                  Places(delays),
                      view(delay_rows), Places(remembered), {known.data(), known.size()}, {}};
    Refinement refinement(streams, room, nodes, view(movable), view(host), Rows<const Number>(near),
                          Rows<const bool>(may_host), {most_nodes, most_tries, doubt, squared});
    refinement.run(view(first));
    return std::tuple(to_numpy(refinement.moved()), to_numpy(std::move(nodes.probed)));
}

}  // namespace

void bind_refinement(nb::module_& module) {
    module.def("refine", &refine, "streams"_a, "room"_a, nb::kw_only(), "numbers"_a, "positions"_a, "extra"_a,
               "delays"_a, "delay_rows"_a, "remembered"_a, "known"_a.noconvert(), "movable"_a, "host"_a.noconvert(),
               "near"_a, "may_host"_a, "first"_a, "most_nodes"_a, "most_tries"_a, "doubt"_a, "squared"_a);
    module.attr("NO_LINK") = no_link;
    module.attr("LESS") = less;
}

}  // namespace berth::space
