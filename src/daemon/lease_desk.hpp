// The leases of all clients: which client holds or waits for which GPU, and until when. The desk asks the policy,
// grants several GPUs together or none, ends leases that are over, and leaves the rest to the seats (gpu_seat.hpp).
// Each request is answered once, through a callback.
//
// Threads: the loop's. Ownership: the loop and the seats outlive this object; the policy is its own.
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

// The result of a setting on one GPU, kept for clients that ask later.
struct Outcome {
  std::uint64_t sequence = 0;
  Instant at;
  int gpu = 0;
  std::string who;
  std::optional<ClientKey> client;
  std::string lease;  // its name; empty if there was none
  Setting asked;
  SettingResult result;
  bool is_known = false;  // false while the call is under way
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
  Instant ends;                           // unless it is renewed
  std::optional<Instant> longest;         // even if it is renewed
  std::map<int, Setting> asked;           // the last one, for each GPU
  std::map<int, Watts> found;             // the power limit before the lease, where it is known
  std::map<int, SettingResult> in_force;  // the result of the last setting, for each GPU
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
    bool is_implicit = false;  // for a setter without a lease: the desk's own
  };
  // A lease, or why there is none. A conflict names the holder.
  struct Taken {
    std::optional<LeaseView> lease;
    std::optional<Refused> refused;
    std::optional<LeaseView> holder;
  };

  // The shortest and longest term that may be asked for. Leases that no client renews, such as those of settings
  // without a lease, have LeaseBook::usual_term in the record; the desk renews them itself.
  static constexpr Seconds shortest_term{1};
  static constexpr Seconds longest_term{3600};
  // How long a request waits for the end of a lease.
  static constexpr Seconds patience_with_ends{2};
  // How long the settings of a token last after its last request.
  static constexpr Seconds token_rests{3600};

  struct Ways {
    std::function<std::string()> draw;  // the random part of a lease's name
    std::function<bool(const ClientProcess& child, const ClientProcess& ancestor)> descends;
  };

  LeaseDesk(Loop& loop, std::vector<GpuSeat*> seats, Policy policy, Ways ways);

  void take(Taking taking, std::function<void(Taken)> done);
  // These are for the lease's own client; for any other they answer 404.
  void renew(const Client& client, std::string_view id, std::function<void(Taken)> done);
  void set(const Client& client, std::string_view id, const std::set<int>& gpus, const Setting& setting,
           const Wanted& wanted, std::function<void(Refusals, std::vector<Outcome>)> done);
  void restore(const Client& client, std::string_view id, const Wanted& wanted, std::function<void(Refusals)> done);
  // `done` gets what could not be put back; that is tried again. If it hangs, `done` is called after a while.
  void release(const Client& client, std::string_view id, std::function<void(Refusals)> done);
  void ask_whether_overruled(const Client& client, std::string_view id, const Wanted& wanted,
                             std::function<void(std::optional<Refused>, std::string)> done);

  // A setter without a lease, for each GPU by itself: takes a lease if this client has none, as the policy says.
  // Refusals that are known at once are reported before this returns.
  void set_without_lease(const Client& client, const std::set<int>& gpus, const Setting& setting, const Wanted& wanted,
                         std::function<void(Refusals)> done);

  // A client that sends any request with a token is alive, and is identified by this token from now on.
  void note_token(const Client& client);

  // Ends a lease, whichever client has it; false if no lease has this name.
  bool end(std::string_view id, const std::string& why, std::function<void()> done);
  // Puts this policy into force. Ends the leases that it does not allow, and those of clients whose token is not valid.
  void set_policy(Policy policy, const std::function<bool(const Client&)>& is_believed);
  [[nodiscard]] const Policy& policy() const { return policy_; }
  // Grants no more leases, and ends all there are.
  void close(std::function<void()> done);

  [[nodiscard]] std::vector<LeaseView> leases() const;
  [[nodiscard]] std::optional<LeaseView> holder_of(int gpu) const;
  // For one GPU, oldest first.
  [[nodiscard]] const std::deque<Outcome>& outcomes(int gpu) const;
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

  void tick(Instant now);

 private:
  using Number = GpuSeat::Number;
  enum class Phase { taking, held, ending };

  struct Entry {
    LeaseView view;
    Phase phase = Phase::taking;
    std::set<int> on;                               // the GPUs of which it has, or may have, a lease
    std::optional<Instant> next_renewal;            // if the desk renews it itself
    std::optional<Instant> last_request;            // with the token that holds it
    Instant counts_from;                            // since when its client has held one of these GPUs without a break
    std::vector<std::pair<int, Setting>> standing;  // what it has set, by GPU
    bool lends = false;
    std::optional<ClientKey> lender;  // borrowed from this client, while it holds these GPUs as well
    std::set<int> set_by_child;       // GPUs that a borrower has set since this lease did
    std::shared_ptr<void> end_of_process;
    std::vector<std::function<void()>> when_over;
    // Settings that came while it was being taken; called with the reason if that fails.
    std::vector<std::function<void(const std::optional<Refused>&)>> when_taken;
    std::shared_ptr<Refusals> left = std::make_shared<Refusals>();  // what its end could not put back
  };
  struct Waiting {
    Taking taking;
    std::function<void(Taken)> done;
    Instant until;
    Instant retry;  // for a GPU that another program has leased: its end is not announced
  };
  // A client that has released a lease and waits for its end.
  struct Leaving {
    Number number;
    Instant until;
    std::shared_ptr<std::function<void(Refusals)>> tell;  // empty once it was called
  };
  // What a lease waits for while its seats are taken.
  struct Progress {
    std::size_t seats_left;  // that have not answered yet
    std::function<void(Number, std::optional<Refused>, bool)> done;
  };
  struct Allowance {
    double left = 0;
    Instant at;
  };

  [[nodiscard]] std::optional<Refused> refusal_of_client(const Client& client, const std::set<int>& gpus) const;
  [[nodiscard]] std::optional<Seconds> longest_of(const Client& client, const std::set<int>& gpus) const;
  [[nodiscard]] GpuSeat& seat_of(int gpu) const { return *seats_.at(static_cast<std::size_t>(gpu)); }
  // The number (from 1) of another client's lease that blocks this client on one of these GPUs; 0: none. A borrowed
  // lease does not block its lender, which may set nothing meanwhile; nor does a lease that lends to this client.
  [[nodiscard]] Number in_the_way(const Client& client, const std::set<int>& gpus) const;
  [[nodiscard]] bool lends_to(const Entry& entry, const Client& client) const;
  static bool share_one(const std::set<int>& a, const std::set<int>& b) {
    return std::ranges::any_of(a, [&](int one) { return b.contains(one); });
  }
  // The lease that has borrowed this GPU from this client; 0: none.
  [[nodiscard]] Number borrower(const ClientKey& lender, int gpu) const;
  // Called after a lease of `lender` has ended, for GPUs that it holds by no other lease. A borrower of these keeps
  // them as its own if the lease was released, and loses them otherwise.
  void leave_or_end_borrowed(const Entry& ended, bool is_released);
  [[nodiscard]] Number find(const Client& client, std::string_view id) const;
  [[nodiscard]] Number number_of(std::string_view id) const;
  [[nodiscard]] Number implicit_of(const ClientKey& key, int gpu) const;
  [[nodiscard]] std::optional<Refused> refusal_of_another(const Client& client) const;
  [[nodiscard]] Instant held_since(const Taking& taking, Instant now) const;
  [[nodiscard]] bool is_half_full_of(const Client& client) const;
  [[nodiscard]] bool is_waited_for(const Taking& taking) const;
  // Waits until another client's lease has ended. Gives the answer `otherwise` if that is not possible or takes too
  // long.
  void wait_or(Taking taking, const std::function<void(Taken)>& done, Taken otherwise, std::optional<Instant> until,
               Instant retry);
  void try_to_take(Taking taking, std::function<void(Taken)> done, std::optional<Instant> until);
  // Reports whether another program outside the daemon is in the way.
  void begin(Taking taking, std::function<void(Number, std::optional<Refused>, bool)> done);
  [[nodiscard]] Number enter(const Taking& taking);
  void seat_answered(Number number, int gpu, GpuSeat::End end, const GpuSeat::Taken& taken,
                     const std::shared_ptr<Progress>& progress);
  // All seats are taken; `gpu` was the last one.
  void hold(Number number, int gpu, const Progress& progress);
  // The seat of `gpu` is not taken, and the lease ends.
  void fail(Number number, int gpu, GpuSeat::End end, const std::optional<Error>& error,
            const std::shared_ptr<Progress>& progress);
  // The latest renewal, and the longest term, of a client's leases of a GPU: each lasts as long as these allow, as in a
  // process's own book (docs/control.md).
  struct Term {
    Instant renewed;
    Seconds longest;
  };
  using Terms = std::map<std::pair<ClientKey, int>, Term>;
  [[nodiscard]] Terms terms() const;
  [[nodiscard]] static Instant lasts_until(const Entry& entry, const Terms& terms);
  [[nodiscard]] static LeaseView view_of(const Entry& entry, const Terms& terms);
  void extend(Entry& entry);
  [[nodiscard]] std::optional<Refused> refusal_by_policy(const Client& client, int gpu, const Setting& setting) const;
  // Also checks how often the GPU may be changed, and counts this change.
  std::optional<Refused> refusal_of_setting(const Client& client, int gpu, const Setting& setting);
  static void note_standing(Entry& entry, int gpu, const Setting& setting);
  // Keeps it for clients that ask for the results of settings.
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
