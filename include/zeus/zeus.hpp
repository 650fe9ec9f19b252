// Everything of the C++ interface of Zeus in one header.
#pragma once

#include <zeus/error.hpp>
#include <zeus/export.hpp>
#include <zeus/units.hpp>
#include <zeus/version.hpp>
