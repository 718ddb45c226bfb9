"""A training step of a Llama-like model under FSDP, written by hand as the simulator's commands.

One device's share of the step, layer by layer: weights are gathered before use, forward and again backward, gradients are
reduce-scattered behind the rest of the backward pass, activations go to the host and come back. Attention is a flash
kernel in blocks of 2048 that skips what is masked. What the public recipes (github.com/AI-Hypercomputer/tpu-recipes,
training/trillium) keep for the backward pass is kept; the rest is computed again.
"""

from dataclasses import dataclass, field

from armillary import sim

BLOCK = 2048  # of queries and of keys
HEAD = 128


@dataclass(frozen=True)
class Model:
    layers: int
    width: int
    hidden: int
    heads: int
    kv_heads: int
    vocabulary: int
    weight_bytes: int = 4  # of the optimizer's copy
    keeps_projection: bool = True  # the attention's output projection is kept for the backward pass

    @property
    def attention_weights(self) -> int:
        return self.width * HEAD * (2 * self.heads + 2 * self.kv_heads)

    @property
    def mlp_weights(self) -> int:
        return 3 * self.width * self.hidden

    @property
    def parameters(self) -> int:
        layer = self.attention_weights + self.mlp_weights + 2 * self.width
        return self.layers * layer + 2 * self.vocabulary * self.width


LLAMA_8B = Model(32, 4096, 14336, 32, 8, 128256)
LLAMA_70B = Model(80, 8192, 28672, 64, 8, 128256, weight_bytes=2, keeps_projection=False)
LLAMA_405B = Model(126, 16384, 53248, 128, 8, 128256, weight_bytes=2, keeps_projection=False)
MISTRAL_7B = Model(32, 4096, 14336, 32, 8, 32768)


@dataclass
class Writer:
    """Appends commands of one device; names carry no layer, so that reports add layers up."""

    chip: sim.Chip
    model: Model
    tokens: int  # of one device
    sequence: int
    chips: int
    program: sim.Program = field(default_factory=sim.Program)
    handles: int = 0

    def dot(self, name: str, m: int, n: int, k: int, **vector: int) -> None:
        label = sim.Label(name, "matmul", 2.0 * m * n * k)
        self.program.matmul(label, self.chip._row, sim.MatrixWork(m, n, k, 1, "bf16", 1), "bf16", vector)

    def elementwise(self, name: str, elements: int, reads: int, writes: int, **per_element: int) -> None:
        """reads, writes: bytes an element."""
        tiles = max(1, elements // (1 << 20))
        piece = -(-elements // tiles)
        work = {op: piece * count for op, count in per_element.items()}
        label = sim.Label(name, "elementwise", 0.0)
        self.program.fused_loop(label, tiles, piece * reads, piece * writes, [], work, {})

    def start(self, name: str, kind: str, elements: int) -> int:
        self.handles += 1
        self.program.start(sim.Label(name, "collective", 0.0), self.handles, kind, 2 * elements, [], [])
        return self.handles

    def offload(self, name: str, elements: int) -> int:
        self.handles += 1
        self.program.host_transfer(sim.Label(name, "other", 0.0), 2 * elements, self.handles)
        return self.handles

    def wait(self, handle: int) -> None:
        self.program.wait(sim.Label("wait", "collective", 0.0), handle)

    def attention(self, name: str, products: int, flops_counted: int, **per_score: int) -> None:
        """A flash kernel: so many products for each block of scores that is not wholly masked."""
        blocks = self.sequence // BLOCK
        sequences = self.tokens // self.sequence
        tiles = sequences * self.model.heads * blocks * (blocks + 1) // 2
        scores = BLOCK * BLOCK
        wide = sim.MatrixWork(BLOCK, BLOCK, HEAD, (products + 1) // 2, "bf16", 1)
        deep = sim.MatrixWork(BLOCK, HEAD, BLOCK, products // 2, "bf16", 1)
        flops = 2.0 * flops_counted * scores * HEAD * tiles
        block_bytes = 2 * BLOCK * HEAD
        work = {op: count * scores for op, count in per_score.items()}
        self.program.fused_loop(
            sim.Label(name, "matmul", flops),
            tiles,
            products * block_bytes,
            products * block_bytes // 2,
            [wide, deep],
            work,
            {"reduced": scores // 8},
        )


def forward(w: Writer) -> None:
    m, t = w.model, w.tokens
    qkv = HEAD * (m.heads + 2 * m.kv_heads)
    attention = w.start("gather attention weights", "all-gather", m.attention_weights)
    mlp = w.start("gather mlp weights", "all-gather", m.mlp_weights)
    w.elementwise("norm", t * m.width, 2, 2, arithmetic=4)
    w.wait(attention)
    w.dot("qkv", t, qkv, m.width)
    w.elementwise("rope", t * qkv, 2, 2, arithmetic=4)
    kept = [w.offload("offload layer input", t * m.width), w.offload("offload qkv", t * qkv)]
    w.attention("attention", 2, 2, arithmetic=3, transcendental=1, convert=1)
    w.dot("attention output", t, m.width, HEAD * m.heads, arithmetic=t * m.width)
    if m.keeps_projection:
        kept.append(w.offload("offload attention output", t * m.width))
    w.elementwise("norm", t * m.width, 4, 4, arithmetic=5)
    w.wait(mlp)
    w.dot("gate and up", t, 2 * m.hidden, m.width, transcendental=t * m.hidden, arithmetic=2 * t * m.hidden)
    w.dot("down", t, m.width, m.hidden, arithmetic=t * m.width)
    for handle in kept:
        w.wait(handle)


def backward(w: Writer) -> None:
    m, t = w.model, w.tokens
    qkv, heads = HEAD * (m.heads + 2 * m.kv_heads), HEAD * m.heads
    kept = qkv + m.width * (2 if m.keeps_projection else 1)
    back = w.offload("fetch from host", t * kept)
    mlp = w.start("gather mlp weights", "all-gather", m.mlp_weights)
    attention = w.start("gather attention weights", "all-gather", m.attention_weights)
    w.elementwise("gradient", t * m.width, 4, 2, arithmetic=4)
    w.wait(back)
    w.attention("attention again", 2, 0, arithmetic=3, transcendental=1, convert=1)
    if not m.keeps_projection:
        w.wait(attention)
        w.dot("attention output again", t, m.width, heads)
    w.elementwise("norm", t * m.width, 4, 2, arithmetic=5)
    w.wait(mlp)
    w.dot(
        "gate and up again",
        t,
        2 * m.hidden,
        m.width,
        transcendental=t * m.hidden,
        arithmetic=2 * t * m.hidden,
    )
    w.dot("down: gradient of input", t, m.hidden, m.width, arithmetic=6 * t * m.hidden)
    w.dot("down: gradient of weights", m.hidden, m.width, t)
    w.dot("gate and up: gradient of input", t, m.width, 2 * m.hidden)
    w.dot("gate and up: gradient of weights", m.width, 2 * m.hidden, t)
    scattered = w.start("scatter mlp gradients", "reduce-scatter", m.mlp_weights)
    w.elementwise("norm gradient", t * m.width, 6, 4, arithmetic=8)
    if m.keeps_projection:
        w.wait(attention)
    w.dot("attention output: gradient of input", t, heads, m.width)
    w.dot("attention output: gradient of weights", heads, m.width, t)
    w.attention("attention gradient", 5, 4, arithmetic=6, transcendental=1, convert=2)
    w.elementwise("rope", t * qkv, 2, 2, arithmetic=4)
    w.dot("qkv: gradient of input", t, m.width, qkv)
    w.dot("qkv: gradient of weights", m.width, qkv, t)
    rest = w.start("scatter attention gradients", "reduce-scatter", m.attention_weights)
    w.elementwise("norm gradient", t * m.width, 6, 4, arithmetic=8)
    w.wait(scattered)
    w.wait(rest)


def head(w: Writer) -> None:
    """The last product, the loss, and their gradients; the embedding is a product with a one-hot matrix, as the recipes say."""
    m, t = w.model, w.tokens
    weights = m.vocabulary * m.width
    w.wait(w.start("gather vocabulary", "all-gather", weights))
    w.dot("logits", t, m.vocabulary, m.width)
    w.elementwise("loss", t * m.vocabulary, 4, 2, arithmetic=4, transcendental=1, convert=2)
    w.dot("logits: gradient of input", t, m.width, m.vocabulary)
    w.dot("logits: gradient of weights", m.vocabulary, m.width, t)
    w.wait(w.start("scatter vocabulary gradients", "reduce-scatter", weights))


def embedding(w: Writer, name: str, backward: bool) -> None:
    m, t = w.model, w.tokens
    w.wait(w.start("gather vocabulary", "all-gather", m.vocabulary * m.width))
    w.dot(name, *((m.vocabulary, m.width, t) if backward else (t, m.width, m.vocabulary)))


def step(model: Model, topology: str, batch: int, sequence: int = 8192, unroll: int = 0) -> sim.Program:
    """One step of one device. unroll: 0 keeps the layers in two loops; n writes them out, n times over."""
    chip = sim.chips()[topology.partition(":")[0]]
    chips = 1
    for extent, _ in sim.torus(topology):
        chips *= extent
    w = Writer(chip, model, batch * sequence, sequence, chips)
    embedding(w, "embedding", backward=False)
    for pass_name, layer in (("layers", forward), ("layers backward", backward)):
        body = Writer(chip, model, w.tokens, sequence, chips)
        layer(body)
        if unroll:
            for _ in range(unroll * model.layers):
                w.program.extend(body.program)
        else:
            w.program.loop(sim.Label(pass_name, "control", 0.0), model.layers, body.program)
        if layer is forward:
            head(w)
    embedding(w, "embedding: gradient", backward=True)
    w.elementwise(
        "optimizer",
        model.parameters // chips,
        12 + model.weight_bytes,
        8 + model.weight_bytes,
        arithmetic=12,
        divide=1,
    )
    return w.program
