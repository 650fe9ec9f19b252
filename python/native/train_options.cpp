#include "train_options.hpp"

#include <zeus/error.hpp>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace zeus::python {

namespace {

// A Python object that may be copied and dropped without the GIL.
class Held {
 public:
  explicit Held(Object object)
      : object_{new Object{std::move(object)}, [](const Object* held) {
                  const WithGil gil;
                  delete held;  // NOLINT(cppcoreguidelines-owning-memory): the deleter of a shared_ptr
                }} {}

  [[nodiscard]] const Object& get() const { return *object_; }

 private:
  std::shared_ptr<const Object> object_;
};

// What is to end the program (KeyboardInterrupt, SystemExit) and was raised in a call into Python from this thread. A
// plain pointer, which owns it: an object would be destroyed when the thread ends, and Python may have ended by then.
thread_local PythonError* interruption = nullptr;

// Calls into Python; an exception there becomes an Error, which can be passed on and read without the GIL.
template <typename Call>
auto in_python(const Call& call) {
  const WithGil gil;
  std::string why;
  try {
    return call();
  } catch (const PythonError& error) {
    if (error.ends_the_program()) {
      delete std::exchange(interruption, new PythonError{error});
    }
    why = error.text();
  }
  throw Error{ErrorKind::unavailable, why};  // out here, without the traceback as its cause
}

class PythonCollective final : public Collective {
 public:
  explicit PythonCollective(const Object& object)
      : object_{object}, rank_{object.attribute("rank").as<int>()}, size_{object.attribute("size").as<int>()} {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void sum(std::span<double> values, Seconds patience) override { reduce("sum", values, patience); }
  void max(std::span<double> values, Seconds patience) override { reduce("max", values, patience); }

  void broadcast(std::span<std::byte> bytes, int root, Seconds patience) override {
    in_python([&] {
      const Object mine = Object::owned(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                                                  static_cast<Py_ssize_t>(bytes.size())));
      const auto theirs = object_.get().attribute("broadcast")(mine, root, patience.value()).as<std::string>();
      if (theirs.size() != bytes.size()) {
        throw Error{ErrorKind::internal, "a rank received a message of an unexpected length"};
      }
      std::memcpy(bytes.data(), theirs.data(), bytes.size());
    });
  }

 private:
  void reduce(const char* how, std::span<double> values, Seconds patience) {
    in_python([&] {
      const std::vector<double> mine{values.begin(), values.end()};
      const auto all = object_.get().attribute(how)(mine, patience.value()).as<std::vector<double>>();
      if (all.size() != values.size()) {
        throw Error{ErrorKind::internal, "ranks passed different numbers of values"};
      }
      std::ranges::copy(all, values.begin());
    });
  }

  Held object_;
  int rank_;
  int size_;
};

// A Python object with begin(limit in W), end(), cancel() and shortest (in s). end() returns the seconds and, for each
// GPU, (joules, their uncertainty, calibration bound or None, why there is no energy).
class PythonSlices final : public SliceMeter {
 public:
  explicit PythonSlices(const Object& object) : object_{object}, shortest_{object.attribute("shortest").as<double>()} {}

  void begin(const PowerSetting& setting) override {
    in_python([&] { object_.get().attribute("begin")(setting.limit.value()); });
  }
  MeasuredSlice end() override {
    return in_python([&] {
      using Measured = std::tuple<double, double, std::optional<double>, std::string>;
      const auto [time, energies] = object_.get().attribute("end")().as<std::pair<double, std::map<int, Measured>>>();
      MeasuredSlice slice{.time = Seconds{time}, .gpu_energy = {}};
      for (const auto& [gpu, energy] : energies) {
        const auto& [value, uncertainty, systematic, reason] = energy;
        MeasuredEnergy& measured = slice.gpu_energy[gpu];
        measured.reason = reason;
        if (reason.empty()) {
          measured.energy = {.value = Joules{value},
                             .uncertainty = Joules{uncertainty},
                             .systematic = systematic ? std::optional{Joules{*systematic}} : std::nullopt,
                             .method = EnergyMethod::counter};
        }
      }
      return slice;
    });
  }
  void cancel() override {
    in_python([&] { object_.get().attribute("cancel")(); });
  }
  [[nodiscard]] Seconds shortest() const override { return shortest_; }

 private:
  Held object_;
  Seconds shortest_;
};

// A Python function that takes a GPU's number and a limit in W.
class PythonSetter final : public LimitSetter {
 public:
  explicit PythonSetter(const Object& function) : function_{function} {}
  void set_power_limit(int gpu, Watts limit) override {
    in_python([&] { function_.get()(gpu, limit.value()); });
  }

 private:
  Held function_;
};

PowerSelector selector_of(const Object& function) {
  return [held = Held{function}](std::span<const LimitProfile> profiles) {
    return in_python([&] {
      List points;
      for (const LimitProfile& profile : profiles) {
        const double time = profile.epoch_time.value();
        points.append(tuple_of(profile.limit.value(), profile.average_power.value() * time, time));
      }
      return held.get()(points).as<std::size_t>();
    });
  };
}

// ("cost",), ("time",), ("energy",), ("slowdown", factor, confidence) or a function of (W, J, s) triples.
PowerGoal goal_of(const Object& value) {
  if (PyTuple_Check(value.get()) == 0) {
    return selector_of(value);
  }
  const auto words = value.as<std::vector<Object>>();
  const auto name = words.at(0).as<std::string>();
  if (name == "cost") {
    return LeastCost{};
  }
  if (name == "time") {
    return LeastTime{};
  }
  if (name == "energy") {
    return LeastEnergy{};
  }
  if (name == "slowdown") {
    return MaxSlowdown{.factor = words.at(1).as<double>(), .confidence = words.at(2).as<double>()};
  }
  fail(PyExc_ValueError, "no such goal: " + name);
}

// ("sweep", settle, measure) or ("adaptive", tolerance, warm_up).
std::variant<AdaptiveProfiling, SweepProfiling> profiling_of(const std::vector<Object>& words) {
  const auto name = words.at(0).as<std::string>();
  if (name == "sweep") {
    return SweepProfiling{.settle = words.at(1).as<std::uint32_t>(), .measure = words.at(2).as<std::uint32_t>()};
  }
  if (name == "adaptive") {
    return AdaptiveProfiling{.tolerance = words.at(1).as<double>(), .warm_up = words.at(2).as<std::uint32_t>()};
  }
  fail(PyExc_ValueError, "no such way of profiling: " + name);
}

TrainingMode mode_of(const std::string& name) {
  if (name == "optimize") {
    return TrainingMode::optimize;
  }
  if (name == "observe") {
    return TrainingMode::observe;
  }
  if (name == "passive") {
    return TrainingMode::passive;
  }
  fail(PyExc_ValueError, "no such mode: " + name);
}

// (gpu, gpus, [(limit in W, steps, seconds of a step, joules of a step), ..]), from the highest limit down.
PowerProfile profile_of(const Object& value) {
  const auto [gpu, gpus, measurements] =
      value
          .as<std::tuple<std::string, std::uint32_t, std::vector<std::tuple<double, std::uint64_t, double, double>>>>();
  PowerProfile profile;
  profile.gpu = gpu;
  profile.gpus = gpus;
  profile.complete = true;
  for (const auto& [limit, steps, time, energy] : measurements) {
    PowerMeasurement measured;
    measured.setting.limit = Watts{limit};
    measured.steps = steps;
    measured.step_time = Seconds{time};
    measured.step_energy.value = Joules{energy};
    profile.measurements.push_back(measured);
  }
  return profile;
}

std::function<void()> action_of(const Object& function) {
  return [held = Held{function}] { in_python([&] { held.get()(); }); };
}

using Setter = std::function<void(TrainingOptions&, const Object&)>;

// `place` says which field of the options it is.
template <typename Place>
Setter plain(Place place) {
  return [place](TrainingOptions& options, const Object& value) {
    auto& field = place(options);
    field = value.as<std::remove_reference_t<decltype(field)>>();
  };
}

template <typename Unit, typename Place>
Setter in_units(Place place) {
  return [place](TrainingOptions& options, const Object& value) { place(options) = Unit{value.as<double>()}; };
}

template <typename Place>
Setter path(Place place) {
  return [place](TrainingOptions& options, const Object& value) { place(options) = value.as<std::string>(); };
}

const std::map<std::string, Setter>& setters() {
  using Options = TrainingOptions;
  using Given = const Object&;
  static const std::map<std::string, Setter> all{
      {"mode", [](Options& options, Given value) { options.mode = mode_of(value.as<std::string>()); }},
      {"goal", [](Options& options, Given value) { options.goal = goal_of(value); }},
      {"eta", plain([](Options& options) -> auto& { return options.eta; })},
      {"gpus", plain([](Options& options) -> auto& { return options.gpus; })},
      {"set_limit",
       [](Options& options, Given value) { options.limit_setter = std::make_shared<PythonSetter>(value); }},
      {"slices",
       [](Options& options, Given value) { options.profiling.slice_meter = std::make_shared<PythonSlices>(value); }},
      {"synchronize", [](Options& options, Given value) { options.synchronize = action_of(value); }},
      {"warn",
       [](Options& options, Given value) {
         options.warn = [held = Held{value}](std::string_view line) { in_python([&] { held.get()(line); }); };
       }},
      {"limit_step_w", in_units<Watts>([](Options& options) -> auto& { return options.profiling.limit_step; })},
      {"lowest_limit_w", in_units<Watts>([](Options& options) -> auto& { return options.profiling.lowest_limit; })},
      {"highest_limit_w", in_units<Watts>([](Options& options) -> auto& { return options.profiling.highest_limit; })},
      {"try_clocks", plain([](Options& options) -> auto& { return options.profiling.try_clocks; })},
      {"profiling",
       [](Options& options, Given value) { options.profiling.plan = profiling_of(value.as<std::vector<Object>>()); }},
      {"wait_steps", plain([](Options& options) -> auto& { return options.profiling.wait_steps; })},
      {"drift_tolerance", plain([](Options& options) -> auto& { return options.profiling.drift_tolerance; })},
      {"batch_size", plain([](Options& options) -> auto& { return options.batch_size; })},
      {"steps_per_epoch", plain([](Options& options) -> auto& { return options.steps_per_epoch; })},
      {"known_profile", [](Options& options, Given value) { options.profiling.known = profile_of(value); }},
      {"profile_file", path([](Options& options) -> auto& { return options.files.profiles; })},
      {"result_file", path([](Options& options) -> auto& { return options.files.result; })},
      {"target",
       [](Options& options, Given value) {
         const auto [metric, higher] = value.as<std::pair<double, bool>>();
         options.stopping.target = TrainingTarget{.metric = metric, .higher_is_better = higher};
       }},
      {"max_epochs", plain([](Options& options) -> auto& { return options.stopping.max_epochs; })},
      {"cost_limit_j", in_units<Joules>([](Options& options) -> auto& { return options.stopping.cost_limit; })},
      {"collective",
       [](Options& options, Given value) { options.collective = std::make_shared<PythonCollective>(value); }},
      {"collective_patience_s",
       in_units<Seconds>([](Options& options) -> auto& { return options.collective_patience; })},
      {"lease_term_s", in_units<Seconds>([](Options& options) -> auto& { return options.lease_term; })},
  };
  return all;
}

}  // namespace

void raise_interruption() {
  if (const std::unique_ptr<const PythonError> kept{std::exchange(interruption, nullptr)}) {
    throw PythonError{*kept};
  }
}

TrainingOptions training_options_of(const Object& values) {
  TrainingOptions options;
  for (const auto& [name, value] : values.as<std::map<std::string, Object>>()) {
    const auto found = setters().find(name);
    if (found == setters().end()) {
      fail(PyExc_KeyError, "a training has no option " + name);
    }
    if (!value.is_none()) {
      found->second(options, value);
    }
  }
  if (options.profiling.known) {
    options.profiling.known->batch_size = options.batch_size;  // the given profile is for this job
  }
  return options;
}

}  // namespace zeus::python
