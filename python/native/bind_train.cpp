// zeus::Training for Python. Its calls into Python (listener, selector, collective, synchronize) are made by the thread
// that reports the training's events, from within those reports.
#include "bindings.hpp"
#include "record_values.hpp"
#include "train_options.hpp"

#include <zeus/error.hpp>
#include <zeus/train.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace zeus::python {

namespace {

// Events are kept for Python to fetch after the call that made them, so that no listener runs in the middle of a call.
struct Events {
  std::vector<TrainingEvent> events;
};

struct PythonTraining {
  std::shared_ptr<Events> kept = std::make_shared<Events>();
  std::unique_ptr<Training> training;
};

// Runs `work` of a training without the GIL. What was to end the program meanwhile is raised afterwards.
template <typename Work>
auto of_training(const Work& work) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      without_gil(work);
      raise_interruption();
    } else {
      auto result = without_gil(work);
      raise_interruption();
      return result;
    }
  } catch (const Error&) {
    raise_interruption();
    throw;
  }
}

std::unique_ptr<PythonTraining> make_training(const Object& values) {
  TrainingOptions options = training_options_of(values);
  auto made = std::make_unique<PythonTraining>();
  options.listener = [kept = made->kept](const TrainingEvent& event) { kept->events.push_back(event); };
  of_training([&] { made->training = std::make_unique<Training>(options); });
  return made;
}

// A member of Training that is called without the GIL.
template <auto Member, typename Result, typename... Arguments>
auto called(Result (Training::* /*type*/)(Arguments...)) {
  return [](PythonTraining& self, Arguments... arguments) {
    return of_training([&] { return ((*self.training).*Member)(arguments...); });
  };
}
template <auto Member>
auto call_of() {
  return called<Member>(Member);
}

List fetch(PythonTraining& self) {
  const std::vector<TrainingEvent> events = std::exchange(self.kept->events, {});
  List values;
  for (const TrainingEvent& event : events) {
    values.append(event_dict(event));
  }
  return values;
}

}  // namespace

template <>
inline constexpr bool waits_to_end<PythonTraining> = true;

void bind_train(const Object& module) {
  add_function(module, "raise_interruption", As<&raise_interruption>{}, {},
               "Raises what was to end the program while a training was destroyed, which raises nothing itself.");
  Class<PythonTraining>(module, "Training", "A training loop that costs less energy.")
      .made_by(As<&make_training>{}, {"options"})
      .method("next_epoch", call_of<&Training::next_epoch>())
      .method("begin_epoch", call_of<&Training::begin_epoch>())
      .method("end_epoch", call_of<&Training::end_epoch>())
      .method("begin_step", call_of<&Training::begin_step>())
      .method("end_steps", call_of<&Training::end_steps>())
      .method("progress", call_of<&Training::progress>(), {"steps"})
      .method("report", call_of<&Training::report>(), {"metric"})
      .method("set_target",
              [](PythonTraining& self, double metric, bool higher_is_better) {
                const TrainingTarget target{.metric = metric, .higher_is_better = higher_is_better};
                of_training([&] { self.training->set_target(target); });
              },
              {"metric", "higher_is_better"})
      .method("set_batch_size", call_of<&Training::set_batch_size>(), {"batch_size"})
      .method("finish", call_of<&Training::finish>())
      .method("events", As<&fetch>{}, {}, "The events since the last call, oldest first.")
      .property("stop_reason", [](PythonTraining& self) { return python_value(self.training->stop_reason()); })
      .property("profiling", [](PythonTraining& self) { return self.training->profiling(); })
      .property("optimum", [](PythonTraining& self) { return python_value(self.training->optimum()); })
      .method("profile", [](PythonTraining& self) { return dict_of(self.training->profile()); })
      .method("result",
              [](PythonTraining& self) { return dict_of(of_training([&self] { return self.training->result(); })); });
}

}  // namespace zeus::python
