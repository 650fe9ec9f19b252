#include "train/profile_file.hpp"

#include "base/file_tree.hpp"
#include "records/json_reader.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::train {

namespace {

constexpr std::string_view what_it_is = "zeus power profiles";
constexpr records::JsonForm profile_file_form{
    .refusal = "this file does not hold power profiles",
    .advice = "delete the file, and it will be measured again; or name another one"};

struct Profiles {
  std::string format{what_it_is};
  std::vector<records::PowerProfile> profiles;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("format", self.format);
    fields.version(1);
    fields("profiles", self.profiles, field::Rule{.members = 10'000});
  }
};

[[noreturn]] void refuse(const std::string& what) {
  records::JsonPlace{profile_file_form}.refuse_as(what);
}

// A value that no GPU or step can have would otherwise enter the calculations.
void check(const records::PowerMeasurement& m) {
  constexpr Seconds shortest{1e-9};
  constexpr Seconds longest{1e8};
  constexpr Watts least{1e-6};
  constexpr Watts most{1e9};
  const Watts power = m.step_energy.value / m.step_time;
  if (!(m.step_time >= shortest && m.step_time <= longest && power >= least && power <= most) ||
      !(m.step_time_uncertainty <= longest) || !(m.step_energy.uncertainty <= most * longest)) {
    refuse(fmt::format("no step takes {:.3g} s and {:.3g} J", m.step_time.value(), m.step_energy.value.value()));
  }
}

FileTree folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  return FileTree{folder};
}

}  // namespace

std::string to_json(const std::vector<records::PowerProfile>& profiles) {
  // One line for each profile, so that people can tell them apart.
  std::string text = fmt::format("{{\"format\":\"{}\",\"version\":1,\"profiles\":[", what_it_is);
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + records::to_json(profiles[i]);
  }
  return text + "\n]}\n";
}

std::vector<records::PowerProfile> profiles_from_json(std::string_view text) {
  const records::JsonPlace place{profile_file_form};
  Profiles file;
  read_value(records::parse_json(text, profile_file_form), place, file);
  if (file.format != what_it_is) {
    refuse(fmt::format("their \"format\" is not \"{}\"", what_it_is));
  }
  for (records::PowerProfile& profile : file.profiles) {
    put_in_order(profile, place);
    std::ranges::for_each(profile.measurements, check);
  }
  return std::move(file.profiles);
}

std::vector<records::PowerProfile> read_profiles(const std::filesystem::path& file) {
  const std::optional<std::string> text = folder_of(file).read(file.filename().string());
  if (!text) {
    return {};
  }
  try {
    return profiles_from_json(*text);
  } catch (const Error& error) {
    throw Error{error.kind(), fmt::format("{}: {}", file.string(), error.message()), error.advice()};
  }
}

void keep_profile(const std::filesystem::path& file, const records::PowerProfile& profile) {
  std::vector<records::PowerProfile> profiles = read_profiles(file);
  std::erase_if(profiles, [&](const records::PowerProfile& one) {
    return one.gpu == profile.gpu && one.gpus == profile.gpus && one.batch_size == profile.batch_size;
  });
  profiles.push_back(profile);
  std::ranges::stable_sort(profiles, {}, [](const records::PowerProfile& one) {
    return std::tuple{one.gpu, one.gpus, one.batch_size.value_or(0)};
  });
  folder_of(file).write_durably(file.filename().string(), to_json(profiles));
}

const records::PowerProfile* find_profile(const std::vector<records::PowerProfile>& profiles, std::string_view gpu,
                                          std::uint32_t gpus, const std::optional<std::uint64_t>& batch_size) {
  const auto found = std::ranges::find_if(profiles, [&](const records::PowerProfile& one) {
    return one.gpu == gpu && one.gpus == gpus && one.batch_size == batch_size;
  });
  return found == profiles.end() ? nullptr : &*found;
}

}  // namespace zeus::train
