// The folder of the running program, from which the files that belong to it are found. Any thread.
#pragma once

#include <filesystem>

namespace zeus {

std::filesystem::path program_folder();

}  // namespace zeus
