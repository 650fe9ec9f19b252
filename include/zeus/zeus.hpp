// The whole C++ interface of Zeus in one header, except for headers that need another library: zeus/torch.hpp
// (libtorch) and zeus/fmt.hpp ({fmt}). If you use zeus/job.hpp, link zeus::jobs as well.
#pragma once

#include <zeus/collective.hpp>
#include <zeus/device.hpp>
#include <zeus/device_values.hpp>
#include <zeus/energy.hpp>
#include <zeus/error.hpp>
#include <zeus/export.hpp>
#include <zeus/fields.hpp>
#include <zeus/job.hpp>
#include <zeus/measure.hpp>
#include <zeus/pipeline.hpp>
#include <zeus/power.hpp>
#include <zeus/reading.hpp>
#include <zeus/run_values.hpp>
#include <zeus/slice_meter.hpp>
#include <zeus/train.hpp>
#include <zeus/training_options.hpp>
#include <zeus/training_ranges.hpp>
#include <zeus/training_report.hpp>
#include <zeus/units.hpp>
#include <zeus/version.hpp>
