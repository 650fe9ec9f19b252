#include "sweep/queue_file.hpp"

#include "base/file_tree.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

namespace zeus::sweep {

namespace {

// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return hash;
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

std::optional<struct stat> state_of(const std::filesystem::path& file) {
  struct stat state {};
  return ::stat(file.c_str(), &state) == 0 ? std::optional{state} : std::nullopt;
}

}  // namespace

QueueFile::Lock::Lock(const std::filesystem::path& file)
    : file_{::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)} {
  if (!file_) {
    throw system_failure(errno, fmt::format("cannot open {}", file.string()));
  }
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    file_.close();
  }
}

QueueFile::QueueFile(const std::filesystem::path& folder)
    : folder_{std::filesystem::absolute(folder)}, file_{folder_ / "queue.yaml"} {
}

bool QueueFile::exists() const {
  return state_of(file_).has_value();
}

QueueFile::Lock QueueFile::lock() const {
  return Lock{folder_ / "queue.lock"};
}

void QueueFile::refresh() {
  const std::optional<struct stat> now = state_of(file_);
  if (now && state_ && is_same(*now, *state_)) {
    return;
  }
  std::vector<QueueEntry> read = parse_queue(file_.string(), FileTree{}.read(file_.string()).value_or(""));
  text_.clear();
  entries_.clear();
  next_ = 0;
  runs_ = 0;
  for (QueueEntry& entry : read) {
    runs_ += task_count(entry);
    const std::size_t begin = text_.size();
    text_ += to_yaml(entry);
    entries_.push_back({.begin = begin, .entry = std::move(entry)});
  }
  state_ = now;
}

const QueueEntry* QueueFile::first() const {
  return next_ < entries_.size() ? &entries_[next_].entry : nullptr;
}

std::string QueueFile::sum() const {
  return fmt::format("{}:{}:{:016x}", entries_.size() - next_, text_.size() - entries_.at(next_).begin,
                     hash_of(to_yaml(entries_.at(next_).entry)));
}

void QueueFile::move_first(Move move) {
  const std::string taken = to_yaml(entries_.at(next_).entry);
  add_to_consumed(taken, move);
  refresh();  // an edit since the last look must not be written over
  const auto is_taken = [&](const Position& one) { return to_yaml(one.entry) == taken; };
  const auto rest = entries_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto found = std::find_if(rest, entries_.end(), is_taken);
  if (found == entries_.end()) {  // the user has taken it out as well
    return;
  }
  const std::string_view text{text_};
  const std::size_t end = std::next(found) != entries_.end() ? std::next(found)->begin : text.size();
  const std::string before{text.substr(rest->begin, found->begin - rest->begin)};
  FileTree{}.write_durably(file_.string(), before + std::string{text.substr(end)}, Readers::everyone);
  state_ = state_of(file_);
  if (found != rest) {
    state_.reset();  // to be read again
  }
  runs_ -= task_count(found->entry);
  ++next_;
}

void QueueFile::add_to_consumed(const std::string& entry, Move move) const {
  const std::filesystem::path name = folder_ / "consumed.yaml";
  if (move == Move::again && FileTree{}.read(name.string()).value_or("").ends_with(entry)) {
    return;
  }
  const FileDescriptor file{::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)};
  if (!file) {
    throw system_failure(errno, fmt::format("cannot open {}", name.string()));
  }
  write_all(file, entry, name.string());
}

}  // namespace zeus::sweep
