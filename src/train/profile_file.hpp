// The file in which a job keeps its power profiles, one for each GPU model, number of GPUs and batch size
// (docs/train.md has its form). Functions of the file; the file is replaced as a whole, so that readers find the old or
// the new one. Any thread; of several writers the last one wins.
#pragma once

#include "records/power_profile.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::train {

std::string to_json(const std::vector<records::PowerProfile>& profiles);
// Anything else than what to_json() writes is a corrupt_data Error.
std::vector<records::PowerProfile> profiles_from_json(std::string_view text);

// None when there is no such file. What cannot be read is an Error that names the file.
std::vector<records::PowerProfile> read_profiles(const std::filesystem::path& file);
// Puts this profile in the place of the one it is comparable with, or beside the others. Throws Errors that name the
// file; a file that holds something else than profiles is left alone.
void keep_profile(const std::filesystem::path& file, const records::PowerProfile& profile);

const records::PowerProfile* find_profile(const std::vector<records::PowerProfile>& profiles, std::string_view gpu,
                                          std::uint32_t gpus, const std::optional<std::uint64_t>& batch_size);

}  // namespace zeus::train
