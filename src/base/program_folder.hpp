// Where the running program lies: what belongs to it is found from there. Any thread.
#pragma once

#include <filesystem>

namespace zeus {

std::filesystem::path program_folder();

}  // namespace zeus
