// Everything of the C++ interface of Zeus in one header.
#pragma once

#include <zeus/device.hpp>
#include <zeus/energy.hpp>
#include <zeus/error.hpp>
#include <zeus/export.hpp>
#include <zeus/measure.hpp>
#include <zeus/power.hpp>
#include <zeus/run_values.hpp>
#include <zeus/train.hpp>
#include <zeus/units.hpp>
#include <zeus/version.hpp>
