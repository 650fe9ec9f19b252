// zeus::Training for Python. Its calls into Python (listener, selector, collective, synchronize) are made by the thread
// that reports the training's events, from within those reports.
#include "bindings.hpp"
#include "freed_without_gil.hpp"
#include "record_values.hpp"
#include "train_options.hpp"

#include <zeus/train.hpp>

#include <memory>
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

FreedWithoutGil<PythonTraining> make_training(const py::dict& values) {
  TrainingOptions options = training_options_of(values);
  auto made = std::make_unique<PythonTraining>();
  options.listener = [kept = made->kept](const TrainingEvent& event) { kept->events.push_back(event); };
  without_gil([&] { made->training = std::make_unique<Training>(options); });
  return FreedWithoutGil<PythonTraining>{made.release()};
}

// A member of Training that is called without the GIL.
template <typename Result, typename... Arguments>
auto call(Result (Training::*member)(Arguments...)) {
  return [member](PythonTraining& self, Arguments... arguments) {
    return without_gil([&] { return ((*self.training).*member)(arguments...); });
  };
}

py::list fetch(PythonTraining& self) {
  const std::vector<TrainingEvent> events = std::exchange(self.kept->events, {});
  py::list values;
  for (const TrainingEvent& event : events) {
    values.append(event_dict(event));
  }
  return values;
}

}  // namespace

void bind_train(py::module_& module) {
  py::class_<PythonTraining, FreedWithoutGil<PythonTraining>>(module, "Training",
                                                              "A training loop that costs less energy.")
      .def(py::init(&make_training), py::arg("options"))
      .def("next_epoch", call(&Training::next_epoch))
      .def("begin_epoch", call(&Training::begin_epoch))
      .def("end_epoch", call(&Training::end_epoch))
      .def("begin_step", call(&Training::begin_step))
      .def("end_steps", call(&Training::end_steps))
      .def("progress", call(&Training::progress), py::arg("steps"))
      .def("report", call(&Training::report), py::arg("metric"))
      .def(
          "set_target",
          [](PythonTraining& self, double metric, bool higher_is_better) {
            const TrainingTarget target{.metric = metric, .higher_is_better = higher_is_better};
            without_gil([&] { self.training->set_target(target); });
          },
          py::arg("metric"), py::arg("higher_is_better"))
      .def("set_batch_size", call(&Training::set_batch_size), py::arg("batch_size"))
      .def("finish", call(&Training::finish))
      .def("events", fetch, "The events since the last call, oldest first.")
      .def_property_readonly("stop_reason",
                             [](PythonTraining& self) { return python_value(self.training->stop_reason()); })
      .def_property_readonly("profiling", [](PythonTraining& self) { return self.training->profiling(); })
      .def_property_readonly("optimum", [](PythonTraining& self) { return python_value(self.training->optimum()); })
      .def("profile", [](PythonTraining& self) { return dict_of(self.training->profile()); })
      .def("result",
           [](PythonTraining& self) { return dict_of(without_gil([&self] { return self.training->result(); })); });
}

}  // namespace zeus::python
