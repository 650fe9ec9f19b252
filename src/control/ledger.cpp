#include "control/ledger.hpp"

#include "base/trusted_file.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

namespace zeus::control {

namespace {

constexpr std::string_view record_suffix = ".lease.json";
constexpr std::string_view note_suffix = ".put_back.json";
constexpr std::string_view lock_suffix = ".lock";
constexpr std::size_t longest_record = 65'536;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// A driver may report anything as a UUID. Whatever it is, its file is in our folder.
std::string file_name_of(std::string_view gpu) {
  std::string name;
  for (const char c : gpu) {
    name += is_plain(c) ? std::string{c} : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return name;
}

std::optional<std::string> gpu_of(std::string_view name) {
  std::string gpu;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      gpu += name[i];
      continue;
    }
    unsigned code = 0;
    const std::string_view digits = name.substr(i + 1, 2);
    if (digits.size() != 2 || std::from_chars(digits.begin(), digits.end(), code, 16).ptr != digits.end()) {
      return std::nullopt;
    }
    gpu += static_cast<char>(code);
    i += 2;
  }
  return gpu;
}

}  // namespace

// The last record read of each GPU. No thread waits for the mutex: if it is taken, the thread reads the file. So does a
// child that was forked while it was taken.
struct Ledger::LastRead {
  static constexpr std::size_t most = 64;

  std::mutex mutex{};
  std::map<std::string, std::pair<std::string, LeaseRecord>, std::less<>> records{};

  std::optional<LeaseRecord> record_of(std::string_view gpu, const std::string& text) {
    const std::unique_lock lock{mutex, std::try_to_lock};
    if (!lock.owns_lock()) {
      return std::nullopt;
    }
    const auto found = records.find(gpu);
    return found != records.end() && found->second.first == text ? std::optional{found->second.second} : std::nullopt;
  }
  void keep(const LeaseRecord& record, const std::string& text) {
    const std::unique_lock lock{mutex, std::try_to_lock};
    if (lock.owns_lock() && (records.size() < most || records.contains(record.gpu))) {
      records.insert_or_assign(record.gpu, std::pair{text, record});
    }
  }
};

Ledger::Ledger(FileTree folder, FileTree machine)
    : folder_{std::move(folder)},
      machine_{std::move(machine)},
      boot_{boot_of(machine_)},
      last_{std::make_shared<LastRead>()} {
}

std::vector<std::string> Ledger::gpus() const {
  std::vector<std::string> found;
  for (const std::string& name : folder_.list("")) {
    if (name.ends_with(record_suffix)) {
      if (std::optional<std::string> gpu = gpu_of(name.substr(0, name.size() - record_suffix.size()))) {
        found.push_back(std::move(*gpu));
      }
    }
  }
  return found;
}

std::vector<std::string> Ledger::begun() const {
  const std::vector<std::string> finished = gpus();
  std::set<std::string> found;
  for (const std::string& name : folder_.list("")) {
    const std::size_t stem =
        name.ends_with(lock_suffix) ? name.size() - lock_suffix.size() : name.find(std::string{record_suffix} + ".");
    if (stem != std::string::npos) {
      const std::optional<std::string> gpu = gpu_of(name.substr(0, stem));
      if (gpu && std::ranges::find(finished, *gpu) == finished.end()) {
        found.insert(*gpu);
      }
    }
  }
  return {found.begin(), found.end()};
}

std::string Ledger::path(std::string_view gpu) const {
  return folder_.resolve(file_name_of(gpu) + std::string{record_suffix}).string();
}

std::shared_ptr<GpuLock> Ledger::lock(std::string_view gpu) const {
  return GpuLock::on(folder_.resolve(file_name_of(gpu) + std::string{lock_suffix}));
}

std::optional<LeaseRecord> Ledger::read(std::string_view gpu) const {
  try {
    const std::optional<std::string> text = read_trusted(path(gpu), ::geteuid(), longest_record);
    if (!text) {
      return std::nullopt;
    }
    if (std::optional<LeaseRecord> known = last_->record_of(gpu, *text)) {
      return known;
    }
    LeaseRecord record = lease_record_from_json(*text);
    if (record.gpu != gpu) {
      throw Error{ErrorKind::corrupt_data, fmt::format("it is the record of {}", record.gpu)};
    }
    last_->keep(record, *text);
    return record;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt_data) {
      throw;
    }
    throw Error{
        ErrorKind::corrupt_data,
        fmt::format("the record of the lease of {} in {} cannot be read, so nothing was changed", gpu, path(gpu)),
        "set its power limit and clocks by hand (`nvidia-smi`), then remove the file"};
  }
}

void Ledger::write(const LeaseRecord& record) const {
  folder_.write_durably(file_name_of(record.gpu) + std::string{record_suffix}, to_json(record));
}

void Ledger::remove(std::string_view gpu) const {
  const std::string record = file_name_of(gpu) + std::string{record_suffix};
  folder_.remove_durably(record);
  // Removes what processes left that were killed while writing. Another user's remains stay, and do no harm.
  for (const std::string& name : folder_.list("")) {
    if (name.starts_with(record + ".")) {
      std::error_code ignored;
      std::filesystem::remove(folder_.resolve(name), ignored);
    }
  }
}

void Ledger::settle(const LeaseRecord& record, const ClaimEnd& ending) const {
  if (ending.left) {
    write(*ending.left);
  } else {
    remove(record.gpu);
  }
}

void Ledger::leave_note(const LeaseRecord& put_back) const noexcept {
  try {
    folder_.write_durably(file_name_of(put_back.gpu) + std::string{note_suffix}, to_json(put_back));
  } catch (const std::exception&) {
    return;  // the settings have been put back, which matters more than the note
  }
}

std::optional<LeaseRecord> Ledger::note(std::string_view gpu) const {
  try {
    const std::optional<std::string> text = read_trusted(
        folder_.resolve(file_name_of(gpu) + std::string{note_suffix}).string(), ::geteuid(), longest_record);
    return text ? std::optional{lease_record_from_json(*text)} : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void Ledger::drop_note(std::string_view gpu) const {
  folder_.remove_durably(file_name_of(gpu) + std::string{note_suffix});
}

Standing Ledger::standing(const LeaseRecord& record, Instant now) const {
  if (record.boot != boot_) {
    return Standing::past;
  }
  const auto is_held = [&](const Claim& claim) {
    return now < claim.expires && lock(record.gpu)->is_held(claim.lease);
  };
  if (!is_held(record)) {
    return Standing::abandoned;
  }
  return record.child() != nullptr && !is_held(*record.child()) ? Standing::child_abandoned : Standing::held;
}

}  // namespace zeus::control
