// The file of a job's power profiles, one for each GPU model, number of GPUs and batch size (docs/train.md describes
// its form). The file is replaced as a whole, so that readers find the old or the new one. Any thread; of several
// writers the last one wins.
#pragma once

#include "records/power_profile.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::train {

std::string to_json(const std::vector<records::PowerProfile>& profiles);
// Throws a corrupt_data Error for anything that to_json() does not write.
std::vector<records::PowerProfile> profiles_from_json(std::string_view text);

// Empty without such a file. Throws an Error that names the file if it cannot be read.
std::vector<records::PowerProfile> read_profiles(const std::filesystem::path& file);
// Replaces the profile that this one is comparable with, or adds it. Throws Errors that name the file; a file that
// holds something other than profiles is left alone.
void keep_profile(const std::filesystem::path& file, const records::PowerProfile& profile);

const records::PowerProfile* find_profile(const std::vector<records::PowerProfile>& profiles, std::string_view gpu,
                                          std::uint32_t gpus, const std::optional<std::uint64_t>& batch_size);

}  // namespace zeus::train
