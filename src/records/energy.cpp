#include "records/energy.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

namespace zeus::records {

namespace {

constexpr JsonForm energy_form{
    .refusal = "this is not an energy",
    .advice =
        R"(expected {"value":J,"uncertainty":J,"systematic":J or null,"method":"counter"|"integrated"|"estimate"})"};

}  // namespace

std::string_view to_string(EnergyMethod method) {
  return field::name_of(method);
}

std::string to_json(const Energy& energy) {
  return json_line(energy);
}

Energy energy_from_json(std::string_view text) {
  return record_from_json<Energy>(text, energy_form);
}

}  // namespace zeus::records
