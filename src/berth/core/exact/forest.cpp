#include "forest.hpp"

#include <cmath>

#include "module.hpp"

namespace berth::exact {

namespace {

// Rounds without a better bound after which steps are halved, and how small they become.
constexpr Index PATIENCE = 4;
constexpr double SMALLEST_SCALE = 0.01;

Grid<Index> rows_of(const GridView<const Index>& ends, const std::vector<Flag>& kept) {
    Grid<Index> part(std::count(kept.begin(), kept.end(), Flag{1}), 2);
    Index filled = 0;
    for (Index edge = 0; edge < ends.rows(); ++edge)
        if (kept[edge]) std::copy(ends[edge], ends[edge] + 2, part[filled++]);
    return part;
}

}  // namespace

Rooting::Rooting(Index root, const Neighbours& neighbours)
    : parent(neighbours.of.size(), -2), edge(neighbours.of.size(), -1), forward(neighbours.of.size()) {
    const auto blocks = static_cast<Index>(neighbours.of.size());
    order.reserve(neighbours.of.size());
    for (Index turn = -1; turn < blocks; ++turn) {
        const Index first = turn < 0 ? root : turn;
        if (parent[first] != -2) continue;
        parent[first] = -1;
        std::size_t head = order.size();
        order.push_back(first);
        for (; head < order.size(); ++head)
            for (const auto& link : neighbours.of[order[head]]) {
                if (parent[link.block] != -2) continue;
                parent[link.block] = order[head];
                edge[link.block] = link.edge;
                forward[link.block] = link.first;
                order.push_back(link.block);
            }
    }
}

ForestBound::ForestBound(const Tables& tables, const std::vector<Flag>& in_tree, std::vector<Index> weight,
                         std::vector<Index> room)
    : tables_(tables),
      tree_ends_(rows_of(tables.ends, in_tree)),
      pair_(tree_ends_.rows(), places(), places()),
      turned_pair_(tree_ends_.rows(), places(), places()),
      neighbours_(tree_ends_, blocks()),
      weight_(std::move(weight)),
      room_(std::move(room)),
      levels_(*std::max_element(room_.begin(), room_.end()) + 1),
      plan_(blocks()),
      level_of_(blocks()),
      priced_(blocks(), places()),
      table_(blocks() * places() * levels_),
      before_(table_.size()),
      least_(blocks(), places()),
      away_(blocks(), places()),
      away_at_(blocks(), places()),
      over_(tables.limits(), places()) {
    Index filled = 0;
    for (Index edge = 0; edge < tables.edges(); ++edge) {
        if (!in_tree[edge]) {
            cuts_.push_back(edge);
            continue;
        }
        const auto pair = tables.pair[edge];
        std::copy(pair.begin(), pair.end(), pair_[filled].begin());
        for (Index u = 0; u < places(); ++u)
            for (Index v = 0; v < places(); ++v) turned_pair_[filled][v][u] = pair[u][v];
        ++filled;
    }
    cut_at_ = Grid<Index>(static_cast<Index>(cuts_.size()), 2);
}

// What an edge to the parent costs: [parent's place][block's place].
GridView<const double> ForestBound::pair_by_parent(Index block, const Rooting& rooting) const {
    return (rooting.forward[block] ? pair_ : turned_pair_)[rooting.edge[block]];
}

void ForestBound::price_blocks(const Grid<double>& price, const Cube<double>& split) {
    for (Index block = 0; block < blocks(); ++block)
        for (Index place = 0; place < places(); ++place)
            priced_[block][place] = tables_.allowed[block][place] ? tables_.cost[block][place] : INFINITE;
    for (Index limit = 0; limit < tables_.limits(); ++limit)
        for (Index place = 0; place < places(); ++place) {
            const double at = price[limit][tables_.group[limit][place]];
            if (at > 0.0)
                for (Index block = 0; block < blocks(); ++block) priced_[block][place] += at * tables_.demand[limit][block];
        }
    for (std::size_t cut = 0; cut < cuts_.size(); ++cut)
        for (Index end = 0; end < 2; ++end) {
            double* priced = priced_[tables_.ends[cuts_[cut]][end]];
            for (Index place = 0; place < places(); ++place) priced[place] += split[cut][end][place];
        }
}

double ForestBound::worth(const Grid<double>& price) const {
    double total = 0.0;
    for (Index limit = 0; limit < tables_.limits(); ++limit)
        for (Index place = 0; place < places(); ++place) total += price[limit][place] * tables_.limit[limit][place];
    return total;
}

// Fill the tables from the leaves on; the costs of the cheapest plan.
double ForestBound::climb(const Rooting& rooting) {
    std::fill(table_.begin(), table_.end(), INFINITE);
    for (Index block = 0; block < blocks(); ++block)
        for (Index place = 0; place < places(); ++place)
            if (weight_[block] <= room_[place]) table(block, place, weight_[block]) = priced_[block][place];
    double total = 0.0;
    for (Index turn = blocks() - 1; turn >= 0; --turn) {
        const Index block = rooting.order[turn];
        double lowest = INFINITE;
        for (Index place = 0; place < places(); ++place) {
            const double* levels = &table(block, place, 0);
            least_[block][place] = *std::min_element(levels, levels + room_[place] + 1);
            lowest = std::min(lowest, least_[block][place]);
        }
        if (rooting.parent[block] < 0)
            total += lowest;
        else
            join(block, rooting);
    }
    return total;
}

// Add the tree below a block to its parent's table: the block is somewhere else, or in a piece with its parent.
void ForestBound::join(Index block, const Rooting& rooting) {
    const Index parent = rooting.parent[block];
    const auto pair = pair_by_parent(block, rooting);
    const double* least = least_[block];
    for (Index place = 0; place < places(); ++place) {
        const double* steps = pair[place];
        double lowest = INFINITE;
        Index at = -1;
        for (Index other = 0; other < places(); ++other) {
            const double value = least[other] + steps[other];
            if (value < lowest && other != place) {
                lowest = value;
                at = other;
            }
        }
        away_[block][place] = lowest;
        away_at_[block][place] = at;
        double* joined = &table(parent, place, 0);
        double* parent_alone = &before(block, place, 0);
        const Index most = room_[place];
        std::copy(joined, joined + most + 1, parent_alone);
        for (Index level = 0; level <= most; ++level) joined[level] = parent_alone[level] + lowest;
        const double* own = &table(block, place, 0);
        for (Index part = weight_[block]; part <= most - weight_[parent]; ++part) {
            if (own[part] == INFINITE) continue;
            const double* rest = parent_alone - part;
            for (Index level = part + weight_[parent]; level <= most; ++level)
                joined[level] = std::min(joined[level], rest[level] + own[part] + steps[place]);
        }
    }
}

// The cheapest plan that the tables have.
void ForestBound::follow(const Rooting& rooting) {
    for (const Index block : rooting.order) {
        const Index parent = rooting.parent[block];
        Index place = -1;
        if (parent >= 0) {
            const Index above = plan_[parent], level = level_of_[parent];
            const double step = pair_by_parent(block, rooting)[above][above];
            double lowest = before(block, above, level) + away_[block][above];
            place = away_at_[block][above];
            Index own = -1;
            for (Index part = weight_[block]; part <= level - weight_[parent]; ++part) {
                const double value = before(block, above, level - part) + table(block, above, part) + step;
                if (value < lowest) {
                    lowest = value;
                    own = part;
                }
            }
            if (own >= 0) {
                level_of_[parent] = level - own;
                plan_[block] = above;
                level_of_[block] = own;
                continue;
            }
        }
        double lowest = INFINITE;
        for (Index other = 0; other < places(); ++other) {
            if (place >= 0 && other != place) continue;
            for (Index level = 0; level <= room_[other]; ++level)
                if (table(block, other, level) < lowest) {
                    lowest = table(block, other, level);
                    plan_[block] = other;
                    level_of_[block] = level;
                }
        }
    }
}

// What is left of the costs of cut edges where that is least, and to `cut_at_` where that is.
double ForestBound::least_cuts(const Cube<double>& split) {
    double total = 0.0;
    for (std::size_t cut = 0; cut < cuts_.size(); ++cut) {
        const bool* first = tables_.allowed[tables_.ends[cuts_[cut]][0]];
        const bool* second = tables_.allowed[tables_.ends[cuts_[cut]][1]];
        const auto pair = tables_.pair[cuts_[cut]];
        const auto borne = split[cut];
        double lowest = INFINITE;
        for (Index u = 0; u < places(); ++u) {
            if (!first[u]) continue;
            for (Index v = 0; v < places(); ++v) {
                const double value = pair[u][v] - borne[0][u] - borne[1][v];
                if (value < lowest && second[v]) {
                    lowest = value;
                    cut_at_[cut][0] = u;
                    cut_at_[cut][1] = v;
                }
            }
        }
        total += lowest;
    }
    return total;
}

double ForestBound::step_length(const Grid<double>& price) {
    double length = 0.0;
    for (Index limit = 0; limit < tables_.limits(); ++limit) {
        double* over = over_[limit];
        for (Index place = 0; place < places(); ++place) over[place] = -tables_.limit[limit][place];
        for (Index block = 0; block < blocks(); ++block)
            over[tables_.group[limit][plan_[block]]] += tables_.demand[limit][block];
        for (Index place = 0; place < places(); ++place)
            if (over[place] > 0.0 || price[limit][place] > 0.0) length += over[place] * over[place];
    }
    for (std::size_t cut = 0; cut < cuts_.size(); ++cut)
        for (Index end = 0; end < 2; ++end)
            if (plan_[tables_.ends[cuts_[cut]][end]] != cut_at_[cut][end]) length += 2.0;
    return length;
}

double ForestBound::improve_prices(Grid<double> price, Cube<double> split, double ceiling, Index rounds, double slack,
                                   Stop& stop) {
    const Rooting rooting(0, neighbours_);
    best_price_ = price;
    best_split_ = split;
    double highest = -INFINITE, scale = 1.0;
    Index since = 0;
    for (Index turn = 0; turn < rounds; ++turn) {
        price_blocks(price, split);
        const double bound = climb(rooting) + (least_cuts(split) - worth(price));
        if (bound == INFINITE) return bound;
        follow(rooting);
        ++since;
        if (bound > highest) {
            if (bound - highest > 1e-3 * (ceiling - bound)) since = 0;
            highest = bound;
            best_price_ = price;
            best_split_ = split;
        }
        const double length = step_length(price);
        if (length <= 1e-18 || highest >= ceiling - slack || stop()) break;
        if (since >= PATIENCE) {
            scale /= 2.0;
            since = 0;
            if (scale < SMALLEST_SCALE) break;
        }
        const double step = scale * (ceiling - bound) / length;
        for (std::size_t k = 0; k < price.values().size(); ++k)
            price.values()[k] = std::max(0.0, price.values()[k] + step * over_.values()[k]);
        for (std::size_t cut = 0; cut < cuts_.size(); ++cut)
            for (Index end = 0; end < 2; ++end) {
                split[cut][end][plan_[tables_.ends[cuts_[cut]][end]]] += step;
                split[cut][end][cut_at_[cut][end]] -= step;
            }
    }
    return highest;
}

Grid<double> ForestBound::marginals(double value, Stop& stop) {
    Grid<double> least(blocks(), places(), value);
    price_blocks(best_price_, best_split_);
    const double constant = least_cuts(best_split_) - worth(best_price_);
    for (Index root = 0; root < blocks() && !stop(); ++root) {
        const double total = constant + climb(Rooting(root, neighbours_));
        const double lowest = *std::min_element(least_[root], least_[root] + places());
        for (Index place = 0; place < places(); ++place)
            least[root][place] = lowest == INFINITE ? total : total - lowest + least_[root][place];
    }
    return least;
}

void bind_forest(nb::module_& module) {
    nb::class_<ForestBound>(module, "ForestBound")
        .def("__init__",
             [](ForestBound* self, const Tables& tables, Vector<bool> in_tree, Vector<Index> weight, Vector<Index> room) {
                 const std::vector<Flag> kept(in_tree.data(), in_tree.data() + in_tree.size());
                 new (self) ForestBound(tables, kept, copied(weight), copied(room));
             },
             "tables"_a, "in_tree"_a, "weight"_a, "room"_a, nb::keep_alive<1, 2>())
        .def("improve_prices",
             [](ForestBound& self, Matrix<double> price, CubeArray<double> split, double ceiling, Index rounds,
                double slack, const nb::callable& over) {
                 Cube<double> start(static_cast<Index>(split.shape(0)), 2, static_cast<Index>(split.shape(2)));
                 std::copy(split.data(), split.data() + split.size(), start.values().begin());
                 Grid<double> prices(view(price));
                 Stop stop(over);
                 nb::gil_scoped_release released;
                 return self.improve_prices(std::move(prices), std::move(start), ceiling, rounds, slack, stop);
             },
             "price"_a, "split"_a, "ceiling"_a, "rounds"_a, "slack"_a, "over"_a)
        .def("marginals",
             [](ForestBound& self, double value, const nb::callable& over) {
                 Stop stop(over);
                 Grid<double> least;
                 {
                     nb::gil_scoped_release released;
                     least = self.marginals(value, stop);
                 }
                 return to_numpy<double>(least);
             },
             "value"_a, "over"_a)
        .def_prop_ro("price", [](const ForestBound& self) { return to_numpy<double>(self.price()); }, nb::rv_policy::move)
        .def_prop_ro("split", [](const ForestBound& self) {
            const auto& split = self.split();
            const std::size_t shape[3] = {static_cast<std::size_t>(split.layers()), 2,
                                          static_cast<std::size_t>(split.columns())};
            return shaped<double>(split.values(), shape);
        }, nb::rv_policy::move)
        .def_prop_ro("plan", [](const ForestBound& self) { return to_numpy<Index>(self.plan()); }, nb::rv_policy::move);
}

}  // namespace berth::exact
