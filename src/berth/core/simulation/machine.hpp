// The running system: tuples come in, are served, split over streams and cross links.
#pragma once

#include <span>
#include <vector>

#include "numpy_random.hpp"
#include "simulation/records.hpp"

namespace berth::simulation {

// How far everything is at a moment; what is being served or transmitted counts up to then.
struct Snapshot {
    double time;
    std::int64_t inside;  // tuples on their way
    Totals totals;
    std::vector<std::int64_t> sent;  // tuples of every output
    std::vector<std::int64_t> arrived, served, lost;  // of every instance
    std::vector<double> tuple_seconds, instance_busy;
    std::vector<double> node_busy;
    std::vector<double> link_busy, link_wait, link_bytes;
    std::vector<std::int64_t> link_tuples;
};

class Machine {
  public:
    Machine(NumpyRandom random, Settings settings, std::vector<Instance> instances, std::vector<Output> outputs,
            std::span<const double> cores);

    // Put every instance where a plan has it (`node` is NONE for what isn't computed); tuples stay where they
    // are in their queues and on their ways.
    void place(std::span<const Index> node, std::span<const double> service_s, std::vector<Route> routes);
    // All hops and links; those that were there before keep their numbers.
    void set_network(std::vector<Hop> hops, std::span<const double> bandwidth);
    void set_delays(std::span<const double> delay_s);

    // Let a source emit at other intervals; what is due comes sooner or later in proportion.
    void set_gap(Index source, double gap, double now);
    // Set when a source begins, in multiples of its gap.
    void set_first_gaps(Index source, double gaps) { instances_[source].gaps_left = gaps; }

    // Stop an instance: its tuples are lost, or wait until it resumes and then start again.
    void stop(Index instance, bool losing, double now);
    void resume(Index instance, double now);

    // Let happen what is due before a time, but not more than so many events; false: there is more to do, or there
    // are too many tuples inside.
    bool advance(double until, std::int64_t most_events);

    std::int64_t inside() const { return inside_; }
    bool full() const { return inside_ > settings_.most_inside; }
    double now() const { return now_; }
    const std::vector<Result>& results() const { return results_; }
    Snapshot snapshot(double now) const;

  private:
    bool handle(const Event& event);
    void emit(Index source, double now);
    void tick(Index node, double now);
    void finish(Index instance, double now);
    void finish_path(const Tuple& done, double now);
    void send_results(const Tuple& cause, double now);
    void send_result(const Tuple& cause, Output& output, double now);
    void send(const Tuple& cause, Output& output, Index offset, double now);
    void cross(Index item, double now);

    void arrive(Index item, double now);
    void want_service(Index instance);
    void serve(Index instance, double now);
    void start(Index instance, double now);
    Index take_from(Index instance, double now);
    void settle(Node& node, double now);
    static double stretch(const Node& node);
    Index next_done(const Node& node) const;
    void plan_tick(Index node, double now);

    void set_aside(Index item, bool losing, double now);
    void count_present(Instance& instance, int change, double now);
    void lose(Index item);

    Index new_tuple(double birth, Index source_row, Index target, double size);
    void free_tuple(Index item);
    void append(Queue& queue, Index item);
    Index emptied(Queue& queue);

    bool shared() const { return settings_.processors == Processors::shared; }
    bool in_turn() const { return settings_.processors == Processors::node; }

    NumpyRandom random_;
    Settings settings_;
    Agenda agenda_;
    double now_ = 0.0;  // the time of the last event
    std::vector<Tuple> tuples_;
    Index unused_ = NONE;  // the first record of a tuple that is gone
    std::int64_t inside_ = 0;
    std::int64_t turns_ = 0;  // tuples that have come to their instance
    std::vector<std::int64_t> tuples_of_output_;  // of one unit of work
    std::vector<Instance> instances_;
    std::vector<Node> nodes_;
    std::vector<Output> outputs_;
    std::vector<Route> routes_;
    std::vector<Hop> hops_;
    std::vector<Link> links_;
    Index sinks_ = 0;  // columns of the table of latencies
    Totals totals_;
    std::vector<Result> results_;
};

}  // namespace berth::simulation
