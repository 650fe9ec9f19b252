// From bytes to setters: the daemon's routes, leases and seats, on GPUs that log what they are told. A setter that runs
// without a right to it is a crash. An independently written evaluator judges that: it knows the policy as letters,
// requests as strings, and the answers that each client got.
//
// The first lines set the scene; the others happen one after the other:
//   0                                    groups and `implicit`, as a letter from '0' on
//   r?????                               a rule: who, GPUs, actions, bounds (masks, as letters from '0' on)
//   aPOST /gpu/...?gpu_ids=0|Header: x   what client a to f sends; "$0" to "$5" stand for tokens
//   A, B, C                              that client's process ends; another takes its place
//   T, U                                 20 s pass, or a minute
//   E1                                   the administrator takes lease-1 back
//   P?????                               a policy of this one rule comes into force

#include "control/lease_book.hpp"
#include "daemon/api.hpp"
#include "device/driver_gate.hpp"
#include "fuzz/setter_rights.hpp"
#include "setter/work/audited_control.hpp"
#include "setter/work/local_seat.hpp"
#include "tests/support/hand_loop.hpp"
#include "tests/support/leased_gpus.hpp"
#include "tokens/token.hpp"
#include "transport/message_reader.hpp"

#include <fmt/format.h>

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace zeus;
using namespace zeus::daemon;
using fuzz::numbers_in;
using fuzz::parameters_of;
using fuzz::PlainRule;
using fuzz::Sender;
using fuzz::Wish;

constexpr int gpu_count = 2;
constexpr std::size_t most_lines = 12;

class KeptStream final : public transport::Stream {
 public:
  explicit KeptStream(std::shared_ptr<bool> is_over) : is_over_{std::move(is_over)} {}
  bool offer(const std::shared_ptr<const std::string>& /*piece*/) override { return !*is_over_; }
  void end() override {}
  [[nodiscard]] bool is_over() const override { return *is_over_; }

 private:
  std::shared_ptr<bool> is_over_;
};

// The result of a request.
struct Answered {
  bool is_answered = false;
  transport::Answer answer;
  // For a request that takes a lease.
  std::string key{};
  std::set<int> gpus{};
};

class KeptExchange final : public transport::Exchange {
 public:
  KeptExchange(transport::Request request, transport::Peer peer, std::shared_ptr<Answered> answered,
               std::shared_ptr<bool> is_over)
      : request_{std::move(request)},
        peer_{std::move(peer)},
        answered_{std::move(answered)},
        is_over_{std::move(is_over)} {}
  [[nodiscard]] const transport::Request& request() const override { return request_; }
  [[nodiscard]] const transport::Peer& peer() const override { return peer_; }
  void answer(transport::Answer answer) override {
    answered_->is_answered = true;
    answered_->answer = std::move(answer);
  }
  std::shared_ptr<transport::Stream> stream(int status, transport::Headers /*headers*/) override {
    answer({status, {}, {}});
    return std::make_shared<KeptStream>(is_over_);
  }
  [[nodiscard]] bool is_abandoned() const override { return false; }
  void when_abandoned(std::function<void()> /*work*/) override {}

 private:
  transport::Request request_;
  transport::Peer peer_;
  std::shared_ptr<Answered> answered_;
  std::shared_ptr<bool> is_over_;
};

const std::array<std::string, 6>& bearers() {
  static const std::array<std::string, 6> all = [] {
    const tokens::Key key{"", "the key of this fuzzer"};
    const tokens::Key other{"", "a key that the daemon lacks"};
    const std::vector<std::string> control{"gpu-control"};
    return std::array{tokens::issue({.subject = "ann", .scopes = control, .id = "ann-1"}, key),
                      tokens::issue({.subject = "bob", .scopes = control, .id = "bob-1"}, key),
                      tokens::issue({.subject = "bea", .scopes = {"gpu-read"}, .id = "bea-1"}, key),
                      tokens::issue({.subject = "ann", .scopes = control, .id = "revoked"}, key),
                      tokens::issue({.subject = "ann", .scopes = control, .expires = 1, .id = "ann-2"}, key),
                      tokens::issue({.subject = "ann", .scopes = control, .id = "ann-3"}, other)};
  }();
  return all;
}

// The daemon and its GPUs, kept from one input to the next. At the end of each input, its settings are put back.
class World : test::LocalStand {
 public:
  World() {
    for (const auto& gpu : {gpu_, other_gpu_}) {
      const auto audited = std::make_shared<setter::AuditedControl>(gpu, gpu, nullptr);
      gpus_.push_back({gpu, audited, gpu->identity().index});
      audited_.push_back(audited);
    }
    book_.emplace(ledger(), gpus_, guardian_, clock_);
    const auto gate = std::make_shared<device::DriverGate>();
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      ServedGpu served{.identity = gpus_[i].gpu->identity(),
                       .reader = std::make_unique<GpuReader>(loop_, gpus_[i], gate, DeviceThread::Bounds{}),
                       .seat = std::make_unique<GpuSeat>(
                           loop_, GpuAsked{static_cast<int>(i), gpus_[i].gpu->identity().uuid},
                           std::make_shared<setter::LocalSeat>(
                               *book_, ledger_, setter::LocalSeat::Parts{gpus_[i], audited_[i], gate}, clock_),
                           DeviceThread::Bounds{}),
                       .stream = std::make_unique<PowerStream>(loop_, Seconds{1}, no_sample)};
      seats_.push_back(served.seat.get());
      node_.gpus.push_back(std::move(served));
    }
    node_.no_device = std::make_unique<PowerStream>(loop_, Seconds{1}, no_sample);
    node_.access.credentials.keys = tokens::KeyRing{{tokens::Key{"", "the key of this fuzzer"}}};
    node_.access.credentials.revoked.add("revoked", std::nullopt);
    loop_.tick = [this](Instant now) { tick(now); };
    clock_.step_wall(Seconds{1e9});
  }

  void run(std::string_view input) {
    begin(input);
    for (std::size_t lines = 0; !input.empty() && lines < most_lines; ++lines) {
      const std::string_view line = take_line(input);
      if (!line.empty()) {
        happen(line[0], line.substr(1));
      }
    }
    end();
  }

 private:
  struct Held {
    std::string key;
    std::set<int> gpus;
    bool is_implicit = false;
  };
  struct Process {
    pid_t pid = 0;
    std::shared_ptr<const FileDescriptor> end;
  };

  static void no_sample(const std::function<void(PowerStream::Sample)>& done) {
    done({.is_known = false, .value = {}, .event = "none"});
  }
  static std::string_view take_line(std::string_view& input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    return line;
  }

  void tick(Instant now) {
    for (const ServedGpu& gpu : node_.gpus) {
      gpu.reader->thread().tick(now);
      gpu.seat->thread().tick(now);
      gpu.stream->tick(now);
    }
    node_.no_device->tick(now);
    node_.desk->tick(now);
  }

  [[nodiscard]] Policy policy() const {
    std::string text = fmt::format("implicit = \"{}\"\n", implicit_);
    for (const PlainRule& rule : rules_) {
      text += rule.toml();
    }
    const std::vector<PolicyText> files{{"policy.toml", text}};
    return policy_from(files, {});
  }

  void begin(std::string_view& input) {
    const std::string_view first = take_line(input);
    const unsigned general = first.empty() ? 0 : fuzz::mask_of(first[0]);
    serves_control_ = (general & 1U) == 0;
    implicit_ = (general >> 1 & 3U) == 1 ? "keep" : (general >> 1 & 3U) == 2 ? "refuse" : "process";
    rules_.clear();
    while (!input.empty() && input[0] == 'r' && rules_.size() < 3) {
      rules_.emplace_back(take_line(input).substr(1));
    }
    node_.access.served.emplace({protocol::Scope::gpu_read});
    if (serves_control_) {
      node_.access.served->push_back(protocol::Scope::gpu_control);
    }
    drawn_ = 0;
    held_.clear();
    ever_set_ = {std::set<std::string>{"power 250", "persistence off", "unlock graphics", "unlock memory", "unlock sm"},
                 {"power 250", "persistence off", "unlock graphics", "unlock memory", "unlock sm"}};
    over_ = std::make_shared<bool>(false);
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      renew(i);
    }
    node_.desk = std::make_unique<LeaseDesk>(
        loop_, seats_, policy(),
        LeaseDesk::Ways{.draw = [this] { return fmt::format("lease-{}", ++drawn_); },
                        .descends = [](const ClientProcess&, const ClientProcess&) { return false; }});
  }

  void end() {
    bool closed = false;
    node_.desk->close([&] { closed = true; });
    loop_.run_until([&] { return closed; });
    *over_ = true;
    loop_.advance(Seconds{3});  // which ends the streams
    settle();
    for (const auto& gpu : {gpu_, other_gpu_}) {
      const bool is_unlocked = std::ranges::all_of(gpu->its_locks, [](const auto& one) { return !one.second; });
      require(*gpu->its_limits.current == 250_W && !*gpu->its_persistence && is_unlocked, "it is not as it was found");
      gpu->its_locks.clear();
    }
    for (const auto& answered : asked_) {
      require(answered->is_answered, "a request is never answered");
    }
    asked_.clear();
  }

  // Until nothing is left to do.
  void settle() {
    bool is_posted = false;
    loop_.post([&] { is_posted = true; });
    loop_.run_until([&] {
      return is_posted && std::ranges::all_of(node_.gpus, [](const ServedGpu& gpu) {
               return gpu.reader->thread().is_idle() && gpu.seat->thread().is_idle();
             });
    });
  }

  void renew(std::size_t index) {
    processes_.at(index) = {++last_pid_, std::make_shared<const FileDescriptor>(::eventfd(0, EFD_CLOEXEC))};
  }

  void happen(char what, std::string_view rest) {
    gpu_->log.clear();
    other_gpu_->log.clear();
    if (what >= 'a' && what <= 'f') {
      send(what, rest);
      return;
    }
    if (what >= 'A' && what <= 'C') {
      const auto index = static_cast<std::size_t>(what - 'A');
      loop_.make_readable(processes_.at(index).end->get());
      renew(index);
    } else if (what == 'T' || what == 'U') {
      // In steps after each of which everything due is done: the guardian ends a lease that is not renewed in time.
      for (int i = 0; i < (what == 'T' ? 2 : 6); ++i) {
        loop_.advance(Seconds{10});
        settle();
      }
    } else if (what == 'E') {
      node_.desk->end(fmt::format("lease-{}", rest), "taken back", {});
    } else if (what == 'P') {
      rules_.assign(1, PlainRule{rest});
      node_.desk->set_policy(policy(), [](const Client&) { return true; });
    } else {
      return;
    }
    settle();
    for (int gpu = 0; gpu < gpu_count; ++gpu) {
      // No client asked for anything: only settings that were found, or held before, may come back.
      for (const std::string& line : log_of(gpu)) {
        require(ever_set_.at(static_cast<std::size_t>(gpu)).contains(line) &&
                    std::ranges::any_of(held_, [&](const auto& one) { return one.second.gpus.contains(gpu); }),
                "something is set that no client asked for");
      }
    }
    look_at_leases();
  }

  // Adds leases that were granted since, because some are granted later; removes leases that the daemon has ended.
  void look_at_leases() {
    std::set<std::string> there;
    for (const auto& answered : asked_) {
      if (answered->is_answered && !answered->key.empty() && answered->answer.status == 200) {
        const std::size_t at = answered->answer.body.find("lease-");
        held_[answered->answer.body.substr(at, answered->answer.body.find('"', at) - at)] = {answered->key,
                                                                                             answered->gpus};
      }
    }
    for (const LeaseView& lease : node_.desk->leases()) {
      there.insert(lease.id);
    }
    std::erase_if(held_, [&](const auto& one) { return !there.contains(one.first); });
  }

  static void require(bool is_so, const char* what) {
    if (!is_so) {
      std::fputs(what, stderr);
      std::abort();
    }
  }
  [[nodiscard]] std::vector<std::string> log_of(int gpu) const { return gpu == 0 ? gpu_->log : other_gpu_->log; }

  [[nodiscard]] transport::Peer peer_of(char who) const {
    transport::Peer peer;
    if (who >= 'e') {
      peer.address = who == 'e' ? "192.0.2.7" : "192.0.2.8";
      return peer;
    }
    peer.local.emplace();
    peer.local->user = who == 'a' ? 1 : who == 'b' ? 2 : 0;
    peer.local->group = static_cast<gid_t>(who == 'a' ? 7 : 100);
    if (who <= 'c') {
      const Process& process = processes_.at(static_cast<std::size_t>(who - 'a'));
      peer.local->pid = process.pid;
      peer.local->started = static_cast<std::uint64_t>(process.pid);
      peer.local->process = process.end;
    }
    return peer;
  }

  void send(char who, std::string_view text) {
    std::string bytes{text.substr(0, text.find('|'))};
    bytes += " HTTP/1.1\r\n";
    bool has_host = false;
    while (text.find('|') != std::string_view::npos) {
      text.remove_prefix(text.find('|') + 1);
      std::string header{text.substr(0, text.find('|'))};
      if (const std::size_t at = header.find('$'); at != std::string::npos && at + 1 < header.size()) {
        header = header.substr(0, at) + bearers().at((static_cast<unsigned char>(header[at + 1]) - '0') % 6U) +
                 header.substr(at + 2);
      }
      has_host = has_host || header.starts_with("Host");
      bytes += header + "\r\n";
    }
    bytes += has_host ? "\r\n" : "Host: localhost\r\n\r\n";
    transport::RequestReader reader{16384, 4096};
    const auto room = reader.buffer().room();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    reader.buffer().filled(count);
    while (reader.step() == transport::RequestReader::Step::whole) {
      handle(who, reader.take_request());
      gpu_->log.clear();
      other_gpu_->log.clear();
    }
  }

  void handle(char who, const transport::Request& request) {
    const auto answered = std::make_shared<Answered>();
    asked_.push_back(answered);
    const std::optional<Sender> sender = sender_of(who, request);
    front_.handle(std::make_shared<KeptExchange>(request, peer_of(who), answered, over_));
    settle();
    judge(sender, request, *answered);
    if (sender && request.path == "/v1/leases/take") {
      answered->key = sender->key;
      answered->gpus = numbers_in(parameters_of(request.query)["gpu_ids"]);
    }
    look_at_leases();
  }

  // Empty if it may set nothing at all.
  [[nodiscard]] std::optional<Sender> sender_of(char who, const transport::Request& request) const {
    if (!serves_control_ || request.method != "POST" || request.headers.get("Origin")) {
      return std::nullopt;
    }
    Sender sender;
    if (who <= 'd') {
      sender.user = who == 'a' ? 1 : who == 'b' ? 2 : 0;
      sender.groups = {who == 'a' ? 7 : 100};
      sender.key = who <= 'c' ? fmt::format("pid {}", processes_.at(static_cast<std::size_t>(who - 'a')).pid) : "";
    } else {
      std::string host{request.headers.get("Host").value_or("localhost")};
      std::ranges::transform(host, host.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      const bool is_number = host.find_first_not_of("0123456789.:") == std::string::npos || host.starts_with("[");
      if (!is_number && host != "localhost" && !host.starts_with("localhost:")) {
        return std::nullopt;
      }
    }
    const auto bearer = request.headers.get("Authorization");
    if (bearer || who >= 'e') {
      constexpr std::array<std::string_view, 2> subjects{"ann", "bob"};
      for (std::size_t i = 0; i < subjects.size(); ++i) {
        if (bearer == "Bearer " + bearers().at(i)) {
          sender.token = subjects.at(i);
        }
      }
      if (sender.token.empty()) {
        return std::nullopt;
      }
      sender.key = sender.key.empty() ? "token " + sender.token : sender.key;
    }
    return sender.key.empty() ? std::nullopt : std::optional{sender};
  }

  void judge(const std::optional<Sender>& sender, const transport::Request& request, const Answered& answered) {
    const std::string& path = request.path;
    std::map<std::string, std::string> parameters = parameters_of(request.query);
    const std::optional<Wish> wish = fuzz::wish_of(path, parameters);
    const bool is_implicit = path.starts_with("/gpu/");
    const std::string id = parameters["lease"];
    const auto mine = held_.find(id);
    const bool has_it = sender && mine != held_.end() && mine->second.key == sender->key;
    const std::set<int> asked = numbers_in(parameters["gpu_ids"]);
    for (int gpu = 0; gpu < gpu_count; ++gpu) {
      const std::vector<std::string> log = log_of(gpu);
      if (log.empty()) {
        continue;
      }
      require(sender.has_value(), "it comes from a client without a right");
      bool others_give_way = true;
      bool somebody_else = false;
      bool has_one = false;
      for (const auto& [name, held] : held_) {
        if (held.gpus.contains(gpu)) {
          const bool is_mine = held.key == sender->key;
          somebody_else = somebody_else || !is_mine;
          others_give_way = others_give_way && (is_mine || held.is_implicit);
          has_one = has_one || (is_mine && held.is_implicit);
        }
      }
      const bool takes_over = somebody_else && is_implicit && implicit_ == "keep" && others_give_way;
      require(!somebody_else || takes_over, "another client has this GPU");
      std::set<std::string>& known = ever_set_.at(static_cast<std::size_t>(gpu));
      const auto is_known = [&](const std::string& line) { return known.contains(line); };
      if (path == "/v1/leases/release" || path == "/v1/leases/restore") {
        require(has_it && mine->second.gpus.contains(gpu), "the lease is another client's");
        require(std::ranges::all_of(log, is_known), "that was never there");
        continue;
      }
      require(wish && asked.contains(gpu), "no client has asked for that");
      require(fuzz::allows(rules_, *sender, gpu, *wish), "the policy does not allow it");
      require(is_implicit ? implicit_ != "refuse" || has_one : has_it && mine->second.gpus.contains(gpu),
              "there is no lease for it");
      for (const std::string& line : log) {
        const bool is_wished = std::ranges::find(wish->lines, line) != wish->lines.end();
        require(is_wished || (takes_over && is_known(line)), "it is told something other than was asked");
        known.insert(line);
      }
    }
    note_leases(sender, path, id, answered);
  }

  void note_leases(const std::optional<Sender>& sender, const std::string& path, const std::string& id,
                   const Answered& answered) {
    if (!sender || !answered.is_answered) {
      return;
    }
    if (path.starts_with("/gpu/")) {
      for (const LeaseView& lease : node_.desk->leases()) {
        if (lease.is_implicit && !held_.contains(lease.id)) {
          held_[lease.id] = {sender->key, {lease.gpus.begin(), lease.gpus.end()}, true};
        }
      }
    } else if (answered.answer.status == 200 && path == "/v1/leases/release") {
      held_.erase(id);
    }
  }

  test::HandLoop loop_{clock_};
  control::Ledger ledger_ = ledger();
  std::vector<device::DiscoveredGpu> gpus_;
  std::vector<std::shared_ptr<setter::AuditedControl>> audited_;
  std::optional<control::LeaseBook> book_;
  std::vector<GpuSeat*> seats_;
  Node node_{.loop = loop_,
             .access = {.hosts = {"localhost"}},
             .identity = {},
             .gpus = {},
             .cpus = {},
             .no_device = {},
             .desk = {},
             .metrics = {}};
  service::Front front_ = front_of(node_);

  // For the present input.
  bool serves_control_ = true;
  std::string implicit_ = "process";
  std::vector<PlainRule> rules_;
  std::array<Process, 3> processes_;
  pid_t last_pid_ = 1000;
  int drawn_ = 0;
  std::map<std::string, Held> held_;  // by name
  std::array<std::set<std::string>, gpu_count> ever_set_;
  std::vector<std::shared_ptr<Answered>> asked_;
  std::shared_ptr<bool> over_;
};

}  // namespace

extern "C" int fuzz_setters(const std::uint8_t* data, std::size_t size) {
  static World world;
  world.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
