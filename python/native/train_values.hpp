// What a zeus::Training tells, as plain Python values: dicts, lists, numbers and text, with None for what is not known.
// For a thread that has the GIL.
#pragma once

#include "bindings.hpp"

#include <zeus/train.hpp>

namespace zeus::python {

// {"event": "SliceMeasured", ..}; the names are those of zeus/training_report.hpp.
py::dict event_of(const TrainingEvent& event);
py::dict result_of(const TrainingResult& result);
py::dict profile_of(const PowerProfile& profile);
py::object setting_of(const std::optional<PowerSetting>& setting);
py::object reason_of(const std::optional<StopReason>& reason);

}  // namespace zeus::python
