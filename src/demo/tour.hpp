// The demo: a job that recurs every night on a virtual GPU, with new images each night, through the same parts that
// `zeus run` uses: jobs and store decide and remember, a training session sets, measures and accounts, and the small
// network is really trained at each chosen batch size. At some night a part of the images starts to be labelled
// wrongly, which makes another batch size best. Each night the default also runs, on its own GPU, so that its cost is
// measured and not guessed. The same seed gives the same tour. One thread; the arguments must outlive it.
#pragma once

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "demo/stage.hpp"
#include "jobs/job.hpp"
#include "records/job_view.hpp"
#include "store/job_store.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::demo {

struct TourOptions {
  std::uint64_t seed = 0;
  int smallest_batch_size = 8;
  int largest_batch_size = 1024;
  int default_batch_size = 512;
  double eta = 0.5;
  double mislabelled = 0.4;        // share of the images, once that starts; 0: never
  std::size_t most_nights = 60;    // in all
  std::size_t nights_beyond = 15;  // nights that follow once it has settled for good
};

// The events of a tour, for display.
struct NightBegun {
  std::size_t night = 0;
  bool labels_went_wrong = false;  // from this night on
};
struct LimitsMeasured {
  int batch_size = 0;
  std::size_t limits = 0;
  Watts cheapest;
};
struct TryBegun {
  records::TryStarted step;
};
struct EpochTrained {
  int batch_size = 0;
  int epoch = 0;
  int most = 0;
  double accuracy = 0.0;
};
struct TryOver {
  records::TryOutcome outcome = records::TryOutcome::lost;
  int batch_size = 0;
  std::optional<Watts> limit;
  int epochs = 0;
  double accuracy = 0.0;
  Joules energy;
  Seconds time;
};
struct NightOver {
  std::size_t night = 0;
  Joules cost;                 // with all tries
  Joules default_cost;         // as really run
  std::optional<int> settled;  // the batch size that the job is settled on now
};
using TourEvent = std::variant<NightBegun, LimitsMeasured, TryBegun, EpochTrained, TryOver, NightOver>;

// The cost of one night, and of the default on the same images.
struct Night {
  Joules energy;
  Seconds time;
  Joules cost;
  Joules default_energy;
  Seconds default_time;
  Joules default_cost;
  bool default_reached = true;

  template <typename Fields>
  static void describe(Fields& fields, const Night& self) {
    fields("energy", self.energy);
    fields("time", self.time);
    fields("cost", self.cost);
    fields("default_energy", self.default_energy);
    fields("default_time", self.default_time);
    fields("default_cost", self.default_cost);
    fields("default_reached", self.default_reached);
  }
};

struct TourResult {
  records::JobView job;
  std::vector<Night> nights;
  std::optional<std::size_t> labels_went_wrong;  // from this night on
  std::optional<std::size_t> settled;            // from this night to the last one
  double target = 0.0;
};

inline constexpr std::string_view tour_job = "digits";

class Tour {
 public:
  // The store must not have a job of the tour's name. Leases are recorded in `folder`; `machine` has /proc.
  Tour(TourOptions options, const MakeGpu& make_gpu, store::JobStore& store, const FileTree& folder,
       const FileTree& machine);

  TourResult run(const std::function<void(const TourEvent&)>& tell);

 private:
  struct Stand;  // a GPU, its clock and its leases

  TourOptions options_;
  const MakeGpu& make_gpu_;
  store::JobStore& store_;
  FileTree folder_;
  FileTree machine_;
};

}  // namespace zeus::demo
