// What a simulation is made of: tuples, the instances that serve them, and the links between.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace berth::simulation {

using Index = std::int32_t;
using EventNumber = std::int64_t;

constexpr Index NONE = -1;
constexpr EventNumber NO_EVENT = -1;
constexpr double NEVER = std::numeric_limits<double>::infinity();

enum class Processors {
    own,     // every instance has a core of its own
    node,    // a node serves as many tuples at a time as it has cores, first come, first served
    shared,  // the instances of a node are threads that share its cores
};

struct Settings {
    Processors processors = Processors::own;
    bool regular_arrivals = false;
    bool fixed_service = false;
    bool split_in_turn = false;
    double jitter_s = 0.0;  // standard deviation of a delay, from tuple to tuple
    std::int64_t record = 0;       // how many results are kept one by one
    std::int64_t most_inside = 0;  // with more tuples on their way, the simulation stops
};

struct Tuple {
    double birth;
    double size;       // in bytes
    Index source_row;  // of the table of latencies
    Index target;      // the instance that it is at, or on its way to
    Index hop;         // what is left of its way: hops from here on, up to `last_hop`
    Index last_hop;
    Index next;  // the next one in its queue, or the next unused record
    std::int64_t turn;  // the place in the order in which tuples came to their instances
};

// First in, first out; the tuples are linked by `Tuple::next`.
struct Queue {
    Index head = NONE;
    Index tail = NONE;
};

struct Instance {
    double service_s = 0.0;  // work on one tuple, on average
    double unit = 1.0;       // the part of a unit of work that an arriving tuple is
    double units = 0.0;      // what has arrived of the next unit of work
    Index node = 0;
    Queue queue;
    Index serving = NONE;  // a tuple
    double started = 0.0;
    double core = 1.0;  // the part of a core that it is served by
    EventNumber finish = NO_EVENT;
    Index first_output = 0, last_output = 0;
    Index source_row = NONE, sink_column = NONE;  // in the table of latencies
    bool blocked = false;                         // its node is down, or it is moving
    bool losing = false;                          // while it is blocked, its tuples are lost instead of waiting
    Queue waiting;                                // its tuples while it is blocked

    // a source
    double gap = NEVER;     // seconds between two tuples from outside
    double due = NEVER;     // when the next one comes
    double gaps_left = 0.0;  // while it is silent: when its next tuple will come, in multiples of the gap
    EventNumber emission = NO_EVENT;

    // on shared cores: the node's clock when the work began, and when it is done
    double clock_started = 0.0;
    double clock_done = 0.0;

    std::int64_t arrived = 0, served = 0, lost = 0;
    std::int64_t present = 0;      // tuples that wait or are served here
    double present_since = 0.0;
    double tuple_seconds = 0.0;    // the integral of `present`, up to `present_since`
    double busy = 0.0;
};

// An instance that a core could serve, by the turn of its first tuple.
struct Ready {
    std::int64_t turn;
    Index instance;
    bool operator>(const Ready& other) const { return turn > other.turn; }
};

struct Node {
    double cores = 1.0;
    std::vector<Index> instances;
    double busy = 0.0;
    // first come, first served: the cores that are free, whole ones and what is left of a part of one
    std::int64_t whole_free = 0;
    double part_free = 0.0;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<Ready>> ready;  // also some that no longer are
    // shared cores
    double clock = 0.0;  // the work that each active instance has received
    double clock_at = 0.0;
    std::int64_t active = 0;
    EventNumber tick = NO_EVENT;
};

// A stream from one instance to some instances that follow one another.
struct Output {
    double bytes;  // of a tuple
    double gain;   // tuples of one unit of work
    double parts = 0.0;  // what has been made of the next tuple
    Index first_receiver;
    Index receivers;
    Index first_route;  // of its receivers, one after the other
    bool to_all;
    Index turn = 0;
    std::int64_t sent = 0;
};

struct Hop {
    double delay_s;
    Index link;
};

// The hops between two instances; none on one node.
struct Route {
    Index first_hop = NONE;
    Index last_hop = NONE;
};

struct Link {
    double bandwidth;
    double free_at = 0.0;
    double busy = 0.0;
    double wait = 0.0;
    double bytes = 0.0;
    std::int64_t tuples = 0;
};

struct Result {
    double birth;
    double finish;
    Index source_row;
    Index sink;  // an instance
};

// Latencies from 1e-7 s to 1e6 s, in classes that grow by a constant factor.
constexpr int BINS_PER_DECADE = 200;
constexpr int FIRST_DECADE = -7;
constexpr int DECADES = 13;

// Everything that only grows: what happened between two moments is the difference.
struct Totals {
    std::int64_t emitted = 0, sent = 0, served = 0, joined = 0, lost = 0, results = 0, events = 0;
    double latency_s = 0.0;        // the sum over all results
    double worst_latency_s = 0.0;  // of all results
    double traffic_bytes = 0.0;
    double byte_seconds = 0.0;  // bytes times their time on links
    std::vector<std::int64_t> histogram = std::vector<std::int64_t>(DECADES * BINS_PER_DECADE);
    // of each pair of a source and a sink, row by row
    std::vector<double> pair_latency_s;
    std::vector<std::int64_t> pair_results;
};

struct Event {
    enum class Kind : std::int32_t { emission, finish, tick, hop_end };
    double time;
    EventNumber number;
    Kind kind;
    Index subject;  // an instance, a node or a tuple
};

// Events by time; of several at the same time the one that was added first.
class Agenda {
  public:
    bool due_before(double time) const { return !events_.empty() && events_.top().time < time; }

    Event next() {
        const Event event = events_.top();
        events_.pop();
        return event;
    }

    // The number is how an event that was called off is told from the one that replaced it.
    EventNumber add(double time, Event::Kind kind, Index subject) {
        events_.push({time, added_, kind, subject});
        return added_++;
    }

  private:
    struct Later {
        bool operator()(const Event& left, const Event& right) const {
            return left.time > right.time || (left.time == right.time && left.number > right.number);
        }
    };
    std::priority_queue<Event, std::vector<Event>, Later> events_;
    EventNumber added_ = 0;
};

}  // namespace berth::simulation
