#include "setter/work/audit_log.hpp"

#include "base/log.hpp"
#include "base/wall_time_text.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace zeus::setter {

namespace {

// Longer than any line: the names in it are bounded at their source.
constexpr off_t longest_line = off_t{16} * 1024;

constexpr std::uint64_t most_refusals_a_second = 100;

Error cannot_write(int error, const std::filesystem::path& file) {
  return system_failure(error, fmt::format("the audit log {} cannot be written", file.string()));
}

}  // namespace

FileDescriptor AuditLog::open(const std::filesystem::path& file) {
  FileDescriptor opened{
      ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
  if (!opened) {
    throw cannot_write(errno, file);
  }
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
      (status.st_uid != ::geteuid() && status.st_uid != 0)) {
    throw Error{ErrorKind::permission_denied, fmt::format("the audit log {} can be written by others", file.string()),
                "it must be a plain file that root owns and no one else may write (chmod 0600)"};
  }
  return opened;
}

AuditLog::AuditLog(std::filesystem::path file, Clock& clock)
    : file_{std::move(file)}, clock_{clock}, descriptor_{open(file_)} {
}

std::optional<Error> AuditLog::set_aside() {
  const std::lock_guard lock{mutex_};
  const off_t end = ::lseek(descriptor_.get(), 0, SEEK_END);
  if (end < 0 || ::fallocate(descriptor_.get(), FALLOC_FL_KEEP_SIZE, end, longest_line) != 0) {
    return cannot_write(errno, file_);
  }
  return std::nullopt;
}

void AuditLog::append(const AuditLine& line, bool syncs) {
  records::JsonWriter json;
  json.object([&] {
    json.put("time", to_text(clock_.wall()));
    json.put("gpu", line.gpu);
    json.put("why", line.why);
    json.put("who", line.who);
    if (line.lease != 0) {
      json.put("lease", line.lease);
    }
    json.put("what", line.what);
    json.put("before", line.before);
    json.put("asked", line.asked);
    json.put("enforced", line.enforced);
    json.put("outcome", line.outcome);
  });
  const std::string text = json.take() + '\n';
  const std::lock_guard lock{mutex_};
  write_all(descriptor_, text, file_.string());
  if (syncs && ::fdatasync(descriptor_.get()) != 0) {
    throw cannot_write(errno, file_);
  }
}

void AuditLog::write(const AuditLine& line) noexcept {
  try {
    append(line, true);
  } catch (const std::exception& error) {
    log::error(error.what());
  }
}

void AuditLog::write_refusal(AuditLine line) noexcept {
  try {
    {
      const std::lock_guard lock{mutex_};
      const Instant now = clock_.now();
      if (now - second_ < Seconds{1} && ++refusals_ > most_refusals_a_second) {
        return;
      }
      if (now - second_ >= Seconds{1}) {
        if (refusals_ > most_refusals_a_second) {
          line.outcome += fmt::format(" (after {} that are not written)", refusals_ - most_refusals_a_second);
        }
        second_ = now;
        refusals_ = 1;
      }
    }
    append(line, false);
  } catch (const std::exception& error) {
    log::error(error.what());
  }
}

void AuditLog::reopen() {
  FileDescriptor anew = open(file_);
  const std::lock_guard lock{mutex_};
  descriptor_ = std::move(anew);
}

}  // namespace zeus::setter
