#include "simulator/network/packet_simulation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "simulator/network/draw.h"
#include "simulator/network/packet_events.h"
#include "simulator/network/packet_routes.h"

namespace toroid {
namespace {

struct Queue {
  int32_t head = -1, tail = -1;
  int64_t free_bytes = 0;
};

struct Engine {
  RemoteWrite write;
  Bytes left = 0;  // Not yet on the way.
  uint64_t draw = 0;
  Packet packet;  // The next to go.
};

// Free, or moving a packet from an input of its router.
struct OutputLink {
  bool busy = false;
  int8_t input = 0;
  int8_t next_input = 0;  // Whose turn it is.
  uint64_t waiting = 0;   // Inputs whose packet takes this link.
};

absl::Status Check(const Topology& topology, const RouterSpec& router) {
  if (topology.has_dead_links()) return absl::UnimplementedError("packets on a slice with dead links");
  const TopologyAxis& first = topology.axes()[0];
  bool far_wrap = false;
  for (const TopologyAxis& a : topology.axes()) {
    if (a.switched || a.bytes_per_second != first.bytes_per_second || a.hop_seconds != first.hop_seconds) {
      return absl::UnimplementedError("packets on switched axes, or on axes that differ in rate or latency");
    }
    far_wrap = far_wrap || a.far_wrap;
  }
  if (router.virtual_channels() < 1 || router.packet_bytes() < 1 || router.write_bytes() < 1 ||
      router.writes_in_progress() < 1 || router.write_setup_seconds() < 0) {
    return absl::InvalidArgumentError(
        "router: channels, packets, writes and writes in progress must be 1 or more");
  }
  if (router.packet_bytes() > (1 << 30) || router.buffer_bytes() < router.packet_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("router: a queue of ", router.buffer_bytes(),
                                                   " bytes does not hold a packet of ",
                                                   router.packet_bytes()));
  }
  const int64_t inputs = SaturatingAdd(
      SaturatingMultiply(2 * static_cast<int64_t>(topology.axes().size()), router.virtual_channels()),
      SaturatingMultiply(topology.cores_per_chip(), router.writes_in_progress()));
  if (inputs > 64) {
    return absl::InvalidArgumentError(
        absl::StrCat("router: ", inputs, " queues and engines; at most 64 are simulated"));
  }
  if (far_wrap && router.virtual_channels() % 2 != 0) {
    return absl::InvalidArgumentError("router: virtual_channels must be even where messages wrap");
  }
  return absl::OkStatus();
}

class PacketSimulation {
 public:
  PacketSimulation(const Topology& topology, const RouterSpec& router, const WritesOfCore& writes,
                   uint64_t seed)
      : topology_(topology),
        router_(router),
        writes_(writes),
        seed_(seed),
        routes_(topology, static_cast<int>(router.virtual_channels())),
        axes_(routes_.axes()),
        channels_(routes_.channels()),
        engines_per_core_(static_cast<int>(router.writes_in_progress())),
        queues_per_router_(2 * axes_ * channels_),
        hop_(PicosecondsOf(topology.axes()[0].hop_seconds)),
        setup_(PicosecondsOf(router.write_setup_seconds())) {}

  absl::StatusOr<PacketResult> Run() {
    queues_.resize(topology_.link_ids() * channels_);
    for (Queue& queue : queues_) queue.free_bytes = router_.buffer_bytes();
    engines_.resize(topology_.cores() * engines_per_core_);
    next_write_.assign(topology_.cores(), 0);
    links_.resize(topology_.link_ids());
    result_.link_bytes.assign(topology_.link_ids(), 0);
    for (int k = 0; k < engines_per_core_; ++k) {
      for (int64_t core = 0; core < topology_.cores(); ++core) {
        RETURN_IF_ERROR(TakeWrite(static_cast<int32_t>(core * engines_per_core_ + k)));
      }
    }
    for (Event event; events_.Next(&event);) {
      now_ = event.time;
      switch (event.kind) {
        case EventKind::kWriteReady:
          RETURN_IF_ERROR(WriteReady(event.where));
          break;
        case EventKind::kHeadArrives:
          HeadArrives(event.where, event.packet);
          break;
        case EventKind::kLinkFree:
          RETURN_IF_ERROR(LinkFree(event.where));
          break;
      }
    }
    TOROID_CHECK(result_.injected == result_.delivered, result_.injected, " bytes sent, ", result_.delivered,
                 " arrived");
    return std::move(result_);
  }

 private:
  absl::Status TakeWrite(int32_t engine) {
    Engine& e = engines_[engine];
    const int64_t core = engine / engines_per_core_;
    const int64_t index = next_write_[core]++;
    if (!writes_(core, index, &e.write)) return absl::OkStatus();
    if (e.write.target_core < 0 || e.write.target_core >= topology_.cores() || e.write.bytes < 1 ||
        e.write.bytes > router_.write_bytes()) {
      return absl::InvalidArgumentError(absl::StrCat("core ", core, ", write ", index, ": ", e.write.bytes,
                                                     " bytes to core ", e.write.target_core));
    }
    e.left = e.write.bytes;
    e.draw = Drawn(seed_ ^ Drawn(static_cast<uint64_t>(core) << 32 ^ static_cast<uint64_t>(index)));
    e.packet.ties_plus = index % 2 == 0;
    events_.Add(now_, setup_, EventKind::kWriteReady, engine);
    return absl::OkStatus();
  }

  absl::Status WriteReady(int32_t engine) {
    Engine& e = engines_[engine];
    const int64_t chip = topology_.ChipOfCore(engine / engines_per_core_);
    e.packet.target = static_cast<int32_t>(topology_.ChipOfCore(e.write.target_core));
    if (e.packet.target == chip) {
      result_.time = std::max(result_.time, now_);
      return TakeWrite(engine);
    }
    result_.injected += e.write.bytes;
    NextPacket(engine, static_cast<int32_t>(chip));
    return absl::OkStatus();
  }

  void NextPacket(int32_t engine, int32_t chip) {
    Engine& e = engines_[engine];
    e.packet.bytes = static_cast<int32_t>(std::min<Bytes>(e.left, router_.packet_bytes()));
    e.packet.draw = static_cast<uint8_t>(e.draw % 240);
    e.packet.crossed = false;
    e.left -= e.packet.bytes;
    ++result_.packets;
    routes_.ChooseLink(chip, -1, &e.packet);
    const int per_chip = engines_per_core_ * static_cast<int>(topology_.cores_per_chip());
    Wait(chip, queues_per_router_ + engine % per_chip, e.packet.link_at_router);
  }

  // Input `input` of `chip` has a packet for that link.
  void Wait(int32_t chip, int input, int link_at_router) {
    const int32_t link = chip * 2 * axes_ + link_at_router;
    links_[link].waiting |= uint64_t{1} << input;
    if (!links_[link].busy) Serve(link);
  }

  // Inputs of a router: channel v of the queue of the link that comes in along axis a, in direction d, is (2a + d) V + v.
  const Packet& FirstPacket(int32_t chip, int input) const {
    if (input >= queues_per_router_) return engines_[EngineOf(chip, input)].packet;
    return packets_[queues_[QueueOf(chip, input)].head];
  }
  int32_t EngineOf(int32_t chip, int input) const {
    return static_cast<int32_t>(chip * topology_.cores_per_chip() * engines_per_core_) + input -
           queues_per_router_;
  }
  int32_t QueueOf(int32_t chip, int input) const {
    const int from = input / channels_;
    return routes_.FeedingLink(chip, from / 2, from % 2) * channels_ + input % channels_;
  }
  // Lets the next in turn that has room go over a free link.
  void Serve(int32_t link) {
    OutputLink& out = links_[link];
    const int32_t chip = link / (2 * axes_);
    // Inputs from next_input on, then those before.
    const uint64_t from = ~uint64_t{0} << out.next_input;
    for (uint64_t some : {out.waiting & from, out.waiting & ~from}) {
      for (; some != 0; some &= some - 1) {
        const int input = __builtin_ctzll(some);
        const Packet& packet = FirstPacket(chip, input);
        if (packet.target == routes_.TargetOfLink(link)) return Send(link, chip, input, packet, -1);
        const int32_t queue = link * channels_ + routes_.Channel(link, packet);
        if (queues_[queue].free_bytes >= packet.bytes) return Send(link, chip, input, packet, queue);
      }
    }
  }

  void Send(int32_t link, int32_t chip, int input, const Packet& packet, int32_t queue) {
    OutputLink& out = links_[link];
    out.busy = true;
    out.input = static_cast<int8_t>(input);
    out.next_input = static_cast<int8_t>((input + 1) % 64);
    out.waiting &= ~(uint64_t{1} << input);
    result_.link_bytes[link] += packet.bytes;
    const int32_t bytes = packet.bytes;
    const Picoseconds streams = Streaming(bytes);
    if (queue < 0) {
      result_.delivered += packet.bytes;
      result_.time = std::max(result_.time, now_ + hop_ + streams);
    } else {
      queues_[queue].free_bytes -= packet.bytes;
      const int32_t copy = NewPacket(packet);
      if (routes_.CrossesWrap(link)) packets_[copy].crossed = true;
      routes_.ChooseLink(routes_.TargetOfLink(link), topology_.AxisOfLink(link), &packets_[copy]);
      events_.Add(now_, hop_, EventKind::kHeadArrives, queue, copy);
    }
    events_.Add(now_, streams, EventKind::kLinkFree, link);
    if (input >= queues_per_router_) return;
    // As fast as the packet leaves its queue another may come in behind it.
    const int32_t left = QueueOf(chip, input);
    queues_[left].free_bytes += bytes;
    if (!links_[left / channels_].busy) Serve(left / channels_);
  }

  void HeadArrives(int32_t queue, int32_t packet) {
    Queue& q = queues_[queue];
    if (q.head >= 0) {
      packets_[q.tail].next = packet;
      q.tail = packet;
      return;
    }
    q.head = q.tail = packet;
    WaitWithHead(queue);
  }

  void WaitWithHead(int32_t queue) {
    const int32_t link = queue / channels_;
    const int input = link % (2 * axes_) * channels_ + queue % channels_;
    Wait(routes_.TargetOfLink(link), input, packets_[queues_[queue].head].link_at_router);
  }

  absl::Status LinkFree(int32_t link) {
    OutputLink& out = links_[link];
    out.busy = false;
    const int32_t chip = link / (2 * axes_);
    const int input = out.input;
    if (input < queues_per_router_) {
      const int32_t queue = QueueOf(chip, input);
      Queue& q = queues_[queue];
      const int32_t gone = q.head;
      q.head = packets_[gone].next;
      free_.push_back(gone);
      if (q.head >= 0) WaitWithHead(queue);
    } else {
      const int32_t engine = EngineOf(chip, input);
      if (engines_[engine].left > 0) {
        NextPacket(engine, chip);
      } else {
        RETURN_IF_ERROR(TakeWrite(engine));
      }
    }
    if (!out.busy) Serve(link);
    return absl::OkStatus();
  }

  int32_t NewPacket(const Packet& packet) {
    const Packet copied = packet;  // May lie in packets_.
    int32_t id;
    if (free_.empty()) {
      id = static_cast<int32_t>(packets_.size());
      packets_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
    }
    packets_[id] = copied;
    packets_[id].next = -1;
    return id;
  }

  Picoseconds Streaming(int32_t bytes) {
    for (const auto& [size, time] : streaming_) {
      if (size == bytes) return time;
    }
    streaming_.push_back({bytes, PicosecondsOf(bytes / topology_.axes()[0].bytes_per_second)});
    return streaming_.back().second;
  }

  const Topology& topology_;
  const RouterSpec& router_;
  const WritesOfCore& writes_;
  const uint64_t seed_;
  const PacketRoutes routes_;
  const int axes_, channels_, engines_per_core_, queues_per_router_;
  const Picoseconds hop_, setup_;
  Picoseconds now_ = 0;
  EventQueue events_;
  std::vector<Queue> queues_;
  std::vector<Engine> engines_;
  std::vector<int64_t> next_write_;
  std::vector<OutputLink> links_;
  std::vector<Packet> packets_;
  std::vector<int32_t> free_;
  std::vector<std::pair<int32_t, Picoseconds>> streaming_;
  PacketResult result_;
};

}  // namespace

absl::StatusOr<PacketResult> SimulatePackets(const Topology& topology, const RouterSpec& router,
                                             const WritesOfCore& writes, uint64_t seed) {
  RETURN_IF_ERROR(Check(topology, router));
  return PacketSimulation(topology, router, writes, seed).Run();
}

}  // namespace toroid
