// Who has which GPU, who waits for it, and until when: the leases of all clients. It asks the policy, gives several
// GPUs all together or none, ends what is over, and has the seats (gpu_seat.hpp) do the rest. Requests are answered
// through a callback, once.
//
// Threads: the loop's. Ownership: the loop and the seats outlive this; the policy is its own.
#pragma once

#include "daemon/client.hpp"
#include "daemon/gpu_seat.hpp"
#include "daemon/loop.hpp"
#include "daemon/policy.hpp"
#include "daemon/refused.hpp"
#include "daemon/setting.hpp"

#include <zeus/units.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::daemon {

// What became of a setting on one GPU, kept for whoever asks later.
struct Outcome {
  std::uint64_t sequence = 0;
  Instant at;
  int gpu = 0;
  std::string who;
  std::optional<ClientKey> client;
  std::string lease;  // its name; empty where none was had
  Setting asked;
  SettingResult result;
  bool is_known = false;  // false while it is under way
};

// What is shown of a lease.
struct LeaseView {
  std::string id;
  Client client;
  control::LeaseClient described;
  bool is_implicit = false;
  bool is_ending = false;
  std::vector<int> gpus;
  Instant since;
  Seconds term;
  Instant ends;                           // unless renewed
  std::optional<Instant> longest;         // whatever is renewed
  std::map<int, Setting> asked;           // last, of each GPU
  std::map<int, Watts> found;             // the power limit that was there, where it is known
  std::map<int, SettingResult> in_force;  // what came of the last one that was set, of each GPU
};

class LeaseDesk {
 public:
  using Wanted = std::function<bool()>;
  struct Taking {
    Client client;
    std::set<int> gpus;
    Seconds term;
    Seconds wait{0};
    Wanted wanted;
    bool lends = false;        // to processes that descend from the client's
    bool is_implicit = false;  // of a setter without a lease: the desk's own
  };
  // A lease, or why there is none. A conflict names the holder.
  struct Taken {
    std::optional<LeaseView> lease;
    std::optional<Refused> refused;
    std::optional<LeaseView> holder;
  };

  // The shortest and longest term that may be asked for; what nobody renews, as settings without a lease, has
  // LeaseBook::usual_term in the record, which the desk renews itself.
  static constexpr Seconds shortest_term{1};
  static constexpr Seconds longest_term{3600};
  // With the end of a lease that somebody waits for.
  static constexpr Seconds patience_with_ends{2};
  // How long the settings of a token last after its last request.
  static constexpr Seconds token_rests{3600};

  struct Ways {
    std::function<std::string()> draw;  // the random part of the names of leases
    std::function<bool(const ClientProcess& child, const ClientProcess& ancestor)> descends;
  };

  LeaseDesk(Loop& loop, std::vector<GpuSeat*> seats, Policy policy, Ways ways);

  void take(Taking taking, std::function<void(Taken)> done);
  // These are for the client whose lease it is: 404 for anybody else.
  void renew(const Client& client, std::string_view id, std::function<void(Taken)> done);
  void set(const Client& client, std::string_view id, const std::set<int>& gpus, const Setting& setting,
           const Wanted& wanted, std::function<void(Refusals, std::vector<Outcome>)> done);
  void restore(const Client& client, std::string_view id, const Wanted& wanted, std::function<void(Refusals)> done);
  // With what could not be put back, which is tried again, or hangs, and is told after a while.
  void release(const Client& client, std::string_view id, std::function<void(Refusals)> done);
  void ask_whether_overruled(const Client& client, std::string_view id, const Wanted& wanted,
                             std::function<void(std::optional<Refused>, std::string)> done);

  // A setter without a lease, of each GPU by itself: takes one where this client has none, as the policy says. What is
  // refused at once is told before this returns.
  void set_without_lease(const Client& client, const std::set<int>& gpus, const Setting& setting, const Wanted& wanted,
                         std::function<void(Refusals)> done);

  // Whoever sends anything with a token is still there, and is believed for this one from now on.
  void note_token(const Client& client);

  // Takes back a lease, whoever has it; false where there is none of this name.
  bool end(std::string_view id, const std::string& why, std::function<void()> done);
  // From now on this policy counts; leases that it does not allow end, and those of clients who are believed no more.
  void set_policy(Policy policy, const std::function<bool(const Client&)>& is_believed);
  [[nodiscard]] const Policy& policy() const { return policy_; }
  // Takes no more, and ends all there are.
  void close(std::function<void()> done);

  [[nodiscard]] std::vector<LeaseView> leases() const;
  [[nodiscard]] std::optional<LeaseView> holder_of(int gpu) const;
  // Of one GPU, oldest first.
  [[nodiscard]] const std::deque<Outcome>& outcomes(int gpu) const;
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

  void tick(Instant now);

 private:
  using Number = GpuSeat::Number;
  enum class Phase { taking, held, ending };

  struct Entry {
    LeaseView view;
    Phase phase = Phase::taking;
    std::set<int> on;                     // of which GPUs it has, or may have, something
    std::optional<Instant> next_renewal;  // where the desk renews it itself
    std::optional<Instant> last_request;  // of the token that it is held for
    bool lends = false;
    std::optional<ClientKey> lender;  // whom it is borrowed from, while that client has these GPUs as well
    std::set<int> set_by_child;       // GPUs that a borrower has set since this one did
    std::shared_ptr<void> end_of_process;
    std::vector<std::function<void()>> when_over;
    // Settings that came while it was being taken; with why it was not.
    std::vector<std::function<void(const std::optional<Refused>&)>> when_taken;
    std::shared_ptr<Refusals> left = std::make_shared<Refusals>();  // what could not be put back at its end
  };
  struct Waiting {
    Taking taking;
    std::function<void(Taken)> done;
    Instant until;
    Instant retry;  // where somebody outside has it, who says nothing when done
  };
  // Who has released a lease and waits for its end.
  struct Leaving {
    Number number;
    Instant until;
    std::shared_ptr<std::function<void(Refusals)>> tell;  // empty once it was told
  };
  struct Allowance {
    double left = 0;
    Instant at;
  };

  [[nodiscard]] std::optional<Refused> refusal_of_client(const Client& client, const std::set<int>& gpus) const;
  [[nodiscard]] std::optional<Seconds> longest_of(const Client& client, const std::set<int>& gpus) const;
  [[nodiscard]] GpuSeat& seat_of(int gpu) const { return *seats_.at(static_cast<std::size_t>(gpu)); }
  // A lease of somebody else of one of these GPUs; 0: none. Numbers begin at 1. None is in its lender's way, who may
  // set nothing meanwhile, and none that is lent to this client.
  [[nodiscard]] Number in_the_way(const Client& client, const std::set<int>& gpus) const;
  [[nodiscard]] bool lends_to(const Entry& entry, const Client& client) const;
  static bool share_one(const std::set<int>& a, const std::set<int>& b) {
    return std::ranges::any_of(a, [&](int one) { return b.contains(one); });
  }
  // Who has borrowed this GPU from this client; 0: nobody.
  [[nodiscard]] Number borrower(const ClientKey& lender, int gpu) const;
  // After a lease of `lender` has ended: whoever has borrowed what it has no other lease of has it alone now, where it
  // was released, and loses it otherwise.
  void leave_or_end_borrowed(const Entry& ended, bool is_released);
  [[nodiscard]] Number find(const Client& client, std::string_view id) const;
  [[nodiscard]] Number number_of(std::string_view id) const;
  [[nodiscard]] Number implicit_of(const ClientKey& key, int gpu) const;
  // Until somebody else's lease has ended; otherwise, and when nothing has come of it by then, the answer.
  void wait_or(Taking taking, const std::function<void(Taken)>& done, Taken otherwise, std::optional<Instant> until,
               Instant retry);
  void try_to_take(Taking taking, std::function<void(Taken)> done, std::optional<Instant> until);
  // Says whether it is somebody outside who is in the way.
  void begin(Taking taking, std::function<void(Number, std::optional<Refused>, bool)> done);
  void taken(Number number, int gpu, GpuSeat::End end, const GpuSeat::Taken& taken);
  void extend(Entry& entry);
  [[nodiscard]] std::optional<Refused> refusal_by_policy(const Client& client, int gpu, const Setting& setting) const;
  // With how often it may be changed, which it counts.
  std::optional<Refused> refusal_of_setting(const Client& client, int gpu, const Setting& setting);
  // Keeps it for whoever asks what became of settings.
  const Outcome& note(Outcome outcome);
  void set_one(Number number, int gpu, const Setting& setting, const Wanted& wanted,
               std::function<void(std::optional<Refused>, const Outcome&)> done);
  void set_without_lease(const Client& client, int gpu, const Setting& setting, const Wanted& wanted,
                         const std::function<void(std::optional<Refused>)>& done);
  void end(Number number, const std::string& why, std::function<void()> done, bool is_released = false);
  void over(Number number);
  void look_at_queue();
  void look_at_leaving(Instant now);
  void renew_own(Number number, Entry& entry, Instant now);

  Loop& loop_;
  std::vector<GpuSeat*> seats_;
  Policy policy_;
  Ways ways_;
  std::map<Number, Entry> entries_;
  Number next_ = 1;
  std::deque<Waiting> queue_;
  std::vector<Leaving> leaving_;
  std::map<int, std::deque<Outcome>> outcomes_;
  std::uint64_t next_outcome_ = 1;
  std::map<std::pair<ClientKey, int>, Allowance> allowances_;
  bool closed_ = false;
};

}  // namespace zeus::daemon
