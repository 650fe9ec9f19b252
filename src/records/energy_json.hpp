// The JSON of an energy as an object, for the files of this module that have it inside of something larger. Pure
// functions; any thread.
#pragma once

#include "records/energy.hpp"

#include <nlohmann/json.hpp>

namespace zeus::records {

nlohmann::ordered_json json_of(const Energy& energy);
// What is not such an object is a corrupt_data Error.
Energy energy_of(const nlohmann::json& object);

}  // namespace zeus::records
