"""Random statements in which a whole block or warp takes part, and atomics by PTX, for :mod:`tests.fuzz.statements`.

No result depends on an order, nor on which lanes of a branch come together.
"""

from __future__ import annotations

from tests.fuzz.scope import Scope
from tests.fuzz.vocabulary import TYPES

#: Atomic operations of PTX by the letter of their type.
_ATOMICS = {
    "u": ("add.u32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32", "exch.b32", "inc.u32", "dec.u32", "cas.b32"),
    "i": ("add.s32", "min.s32", "max.s32"),
    "w": ("add.u64", "min.u64", "max.u64", "and.b64", "or.b64", "xor.b64", "exch.b64", "cas.b64"),
    "l": ("min.s64", "max.s64"),
    "S": ("cas.b16",),
    "f": ("add.f32",),
    "d": ("add.f64",),
    "h": ("add.noftz.f16",), "g": ("add.noftz.bf16",), "H": ("add.noftz.f16x2",), "G": ("add.noftz.bf16x2",),
}  # fmt: skip
_BITS = {"S": "h", "h": "h", "g": "h", "u": "r", "i": "r", "H": "r", "G": "r", "w": "l", "l": "l", "f": "f", "d": "d"}


class BlockStatements(Scope):
    """Statements of a whole block. ``threads``: threads per block, whole warps."""

    threads: int

    def _tile_of(self, letter: str, name: str) -> list[str]:
        """Shared memory with one element per thread, each with its thread's value."""
        return [f"__shared__ {TYPES[letter]} {name}[{self.threads}];", f"{name}[t] = {self.expression(letter)};"]

    def _tree(self, depth: int, together: bool) -> list[str]:
        """A reduction of the block in shared memory."""
        letter, name, step = self.draw.choice("iuwlfdhH"), self.name("tree"), self.name("k")
        operations = ["{0} + {1}", "{0} - {1}", "{1} * {0}"]
        operations += ["max({0}, {1})", "{0} ^ {1}"] if letter in "iuwl" else []
        joined = self.draw.choice(operations).format(f"{name}[t]", f"{name}[t + {step}]")
        half = 1 << (self.threads - 1).bit_length() - 1
        return [*self._tile_of(letter, name), "__syncthreads();",
                f"for (unsigned {step} = {half}; {step} > 0; {step} >>= 1) {{",
                f"  if (t < {step} && t + {step} < {self.threads}) {name}[t] = {joined};", "  __syncthreads();", "}",
                *self.new(letter, f"{name}[{self.pick('u')} % {self.threads}]"), "__syncthreads();"]  # fmt: skip

    def _scan(self, depth: int, together: bool) -> list[str]:
        """A scan of the block in shared memory, in steps of powers of two."""
        letter, name, step = self.draw.choice("iuwfd"), self.name("scan"), self.name("k")
        value = f"{name}v"
        joined = self.draw.choice(["{0} + {1}", "{1} - {0}", "max({0}, {1})"]).format(f"{name}[t]", value)
        return [*self._tile_of(letter, name), "__syncthreads();",
                f"for (unsigned {step} = 1; {step} < {self.threads}; {step} *= 2) {{",
                f"  {TYPES[letter]} {value} = t >= {step} ? {name}[t - {step}] : {self.pick(letter)};",
                f"  __syncthreads(); {name}[t] = {joined}; __syncthreads();", "}",
                *self.new(letter, f"{name}[t]"), "__syncthreads();"]  # fmt: skip

    def _histogram(self, depth: int, together: bool) -> list[str]:
        name, counter, bins = self.name("bins"), self.name("k"), self.draw.choice([2, 5, 8, 31])
        trips = self.draw.choice(["3", f"{self.pick('u')} % 4"])
        value = self.pick("u")
        return [f"__shared__ unsigned {name}[{bins}]; if (t < {bins}) {name}[t] = t;", "__syncthreads();",
                f"for (unsigned {counter} = 0; {counter} < {trips}; ++{counter})",
                f"  atomicAdd(&{name}[({value} >> {counter} * 3) % {bins}], {self.pick('u')} & 3);",
                "__syncthreads();", *self.new("u", f"{name}[{self.pick('u')} % {bins}]"),
                "__syncthreads();"]  # fmt: skip

    def _square(self, depth: int, together: bool) -> list[str]:
        """A tile of two axes, with a column that nobody writes."""
        letter, name = self.draw.choice("CsuwfdhHgQ"), self.name("square")
        rows = self.draw.choice([2, 4, 8, 16])
        columns = self.threads // rows
        return [f"__shared__ {TYPES[letter]} {name}[{rows}][{columns + 1}];",
                f"{name}[t / {columns}][t % {columns}] = {self.expression(letter)};", "__syncthreads();",
                *self.new(letter, f"{name}[t % {rows}][t / {rows}]"),
                *self.new(letter, f"{name}[{self.pick('u')} % {rows}][{self.pick('u')} % {columns}]"),
                "__syncthreads();"]  # fmt: skip

    def _warp_memory(self, depth: int, together: bool) -> list[str]:
        letter, name = self.draw.choice("CSiulwfdhGq"), self.name("lanes")
        lane = self.draw.choice(["31 - (t & 31)", f"{self.pick('u')} & 31", "t * 5 & 31"])
        return ["__syncthreads();", *self._tile_of(letter, name), "__syncwarp();",
                *self.new(letter, f"{name}[(t & ~31u) + ({lane})]"), "__syncwarp();"]  # fmt: skip

    def _named_barrier(self, depth: int, together: bool) -> list[str]:
        letter, name = self.draw.choice("iuwfd"), self.name("named")
        barrier = self.draw.randint(1, 15)
        if self.threads == 32 or self.draw.random() < 0.5:
            wait = (
                f'asm volatile("{self.draw.choice(["bar", "barrier"])}.sync {barrier}, {self.threads};" ::: "memory");'
            )
            index = f"{self.pick('u')} % {self.threads}"
            return [*self._tile_of(letter, name), wait, *self.new(letter, f"{name}[{index}]"), wait]
        result = self.pick(letter)
        call = f'asm volatile("bar.{{0}} {barrier}, {self.threads};" ::: "memory");'
        return [f"__shared__ {TYPES[letter]} {name}[32];",
                f"if (t < 32) {{ {name}[t] = {self.expression(letter)}; {call.format('arrive')} }}",
                f"else {{ {call.format('sync')} {result} = {name}[{self.pick('u')} & 31]; }}",
                "__syncthreads();"]  # fmt: skip

    def _mbarrier(self, depth: int, together: bool) -> list[str]:
        letter, name, turn = self.draw.choice("uwfd"), self.name("bar"), self.name("k")
        count, value = self.pick("u"), self.expression(letter)
        other = self.pick(letter)
        return [f"__shared__ __mbarrier_t {name}; __shared__ {TYPES[letter]} {name}d[{self.threads}];",
                f"if (t == 0) __mbarrier_init(&{name}, {self.threads});", "__syncthreads();",
                f"for (int {turn} = 0; {turn} < 3; ++{turn}) {{", f"  {name}d[t] = {value};",
                f"  __mbarrier_token_t {name}t = __mbarrier_arrive(&{name});",
                f"  while (!__mbarrier_test_wait(&{name}, {name}t)) {{}}",
                f"  {other} = {name}d[({count} + {turn}) % {self.threads}];", "  __syncthreads();", "}",
                f"if (t == 0) __mbarrier_inval(&{name});"]  # fmt: skip

    def _group_copy(self, depth: int, together: bool) -> list[str]:
        letter, name = self.draw.choice("uwdf"), self.name("gathered")
        start = self.draw.randint(0, self.threads // 2)
        return ["__syncthreads();", f"__shared__ __align__(16) {TYPES[letter]} {name}[{self.threads}];",
                f"cg::memcpy_async(cg::this_thread_block(), {name}, (const {TYPES[letter]}*)in + {start}, "
                f"sizeof({TYPES[letter]}) * {self.threads});", "cg::wait(cg::this_thread_block());",
                *self.new(letter, f"{name}[{self.pick('u')} % {self.threads}]"), "__syncthreads();"]  # fmt: skip

    def _aggregate(self, depth: int, together: bool) -> list[str]:
        """One lane adds for all that came with it: the sum tells nothing of who came together."""
        name, group = self.name("sum"), self.name("here")
        value = self.draw.choice(
            [f"{group}.size()", f"cg::reduce({group}, {self.pick('u')} & 255, cg::plus<unsigned>())"]
        )
        other = f" else {{ atomicAdd(&{name}, 7u); }}" * (self.draw.random() < 0.4)
        return [f"__shared__ unsigned {name}; if (t == 0) {name} = 0;", "__syncthreads();",
                f"if ({self.condition()}) {{ auto {group} = cg::coalesced_threads(); unsigned {group}n = {value};",
                f"  if ({group}.thread_rank() == 0) atomicAdd(&{name}, {group}n); }}{other}",
                "__syncthreads();", *self.new("u", name), "__syncthreads();"]  # fmt: skip

    def _shrinking(self, depth: int, together: bool) -> list[str]:
        """A loop that lanes leave one after the other, with exchanges of those that stay."""
        mask, turn, letter = self.name("mask"), self.name("k"), self.draw.choice("iuwfdl")
        trips, total = f"{self.pick('u')} % {self.draw.randint(2, 7)}", self.pick("u")
        source = self.draw.choice([f"__ffs({mask}) - 1", f"31 - __clz({mask})"])
        extra = self.draw.choice(
            [f"{total} ^= __reduce_add_sync({mask}, {self.pick('u')});",
             f"{total} += __match_any_sync({mask}, {self.pick('u')} & 3);",
             f"{total} += __popc(__ballot_sync({mask}, {self.condition()})) * {turn};",
             f"if (__any_sync({mask}, {self.condition()})) {total} += 5;"]
        )  # fmt: skip
        to, value = self.pick(letter), self.pick(letter)
        return [f"unsigned {mask} = ~0u, {turn} = 0; const unsigned {turn}n = {trips};", "while (true) {",
                f"  {mask} = __ballot_sync({mask}, {turn} < {turn}n); if ({turn} >= {turn}n) break;",
                f"  {to} = __shfl_sync({mask}, {value}, {source}); {extra}", f"  ++{turn};", "}",
                "__syncwarp();"]  # fmt: skip

    def _nested_masks(self, depth: int, together: bool) -> list[str]:
        """Exchanges in both sides of a branch, and in a branch of one."""
        mask, letter = self.name("mask"), self.draw.choice("iuwfdl")
        to, value, count = self.pick(letter), self.pick(letter), self.pick("u")
        return [f"bool {mask}a = {self.condition()}; unsigned {mask} = __ballot_sync(~0u, {mask}a);",
                f"if ({mask}a) {{ bool {mask}b = {self.condition()};",
                f"  unsigned {mask}i = __ballot_sync({mask}, {mask}b);",
                f"  if ({mask}b) {{ {to} = __shfl_sync({mask}i, {value}, 31 - __clz({mask}i));",
                f"    {count} += __reduce_or_sync({mask}i, {self.pick('u')}); }}",
                f"  else {{ {count} ^= __match_any_sync({mask} & ~{mask}i, {self.pick('i')} >> 30); }}",
                f"  __syncwarp({mask}); {count} += __popc(__ballot_sync({mask}, {self.condition()}));",
                f"}} else {{ {to} = __shfl_sync(~{mask}, {value}, __ffs(~{mask}) - 1);",
                f"  {count} = __reduce_min_sync(~{mask}, {count}); }}", "__syncwarp();"]  # fmt: skip

    def _ptx_atomic(self, depth: int, together: bool) -> list[str]:
        """An atomic of PTX on a word that no other thread has: shared, global, or by a generic address."""
        letter, name = self.draw.choice("uuiwlSfdhgHG"), self.name("own")
        operation = self.draw.choice(_ATOMICS[letter])
        space = self.draw.choice(["", ".shared", ".global", ".shared::cta", ""])
        if "shared" in space and letter in "hgHG":
            space = ""
        order = self.draw.choice(["", ".relaxed", ".acquire", ".release", ".acq_rel"])
        scope = self.draw.choice([".cta", ".gpu", ".sys", ".cluster"]) if order or self.draw.random() < 0.5 else ""
        kind, bits = TYPES[letter], _BITS[letter]
        is_global = space == ".global" or (not space and self.draw.random() < 0.3)
        cell = f"(({kind}*)(out + g))[0]" if is_global else f"{name}[t]"
        address = f"(unsigned)__cvta_generic_to_shared(&{cell})" if "shared" in space else f"&{cell}"
        values = [self.pick(letter) for _ in range(2 if operation.startswith("cas") else 1)]
        if (
            letter in "HG"
        ):  # of a pair that is a part of 64 bits, ptxas 12.9 and 13.0 add bits 32 to 47 to the upper half
            values = [f"{values[0]} + {self.pick(letter)}"]
        convert = {"h": "__half_as_ushort({0})", "g": "__bfloat16_as_ushort({0})", "H": "(unsigned)raw({0})",
                   "G": "(unsigned)raw({0})"}.get(letter, "{0}")  # fmt: skip
        back = {"h": "__ushort_as_half({0})", "g": "__ushort_as_bfloat16({0})", "H": "pair({0})",
                "G": "brain_pair({0})"}.get(letter, "{0}")  # fmt: skip
        held = {"h": "ushort", "g": "ushort", "H": "unsigned", "G": "unsigned"}.get(letter, kind)
        inputs = ", ".join(f'"{bits}"({convert.format(value)})' for value in values)
        places = ", ".join(f"%{index + 2}" for index in range(len(values)))
        pointer = '"r"' if "shared" in space else '"l"'
        return [f"__shared__ {kind} {name}[{self.threads}]; {cell} = {self.pick(letter)}; {held} {name}v;",
                f'asm volatile("atom{order}{scope}{space}.{operation} %0, [%1], {places};" : "={bits}"({name}v) : '
                f'{pointer}({address}), {inputs} : "memory");',
                *self.new(letter, back.format(f"{name}v")), *self.new(letter, cell)]  # fmt: skip

    def _wide_atomic(self, depth: int, together: bool) -> list[str]:
        """Atomics of 16 bytes, or of two floats at once, on what no other thread has."""
        name = self.name("own")
        if self.draw.random() < 0.4:
            a, b, c, d = (self.pick("f") for _ in range(4))
            result = self.name("pairs")
            return [f"float2* {name} = (float2*)(out + g); *{name} = make_float2({a}, {b});",
                    f"float2 {result} = atomicAdd({name}, make_float2({c}, {d}));",
                    *self.new("f", f"{result}.y"), *self.new("f", f"{name}->x")]  # fmt: skip
        wanted = self.draw.choice([f"{name}[t]", self.pick("Q")])
        call = self.draw.choice([f"atomicCAS(&{name}[t], {wanted}, {self.pick('Q')})",
                                 f"atomicExch(&{name}[t], {self.pick('Q')})"])  # fmt: skip
        return [f"__shared__ uwide {name}[{self.threads}]; {name}[t] = {self.pick('Q')};", *self.new("Q", call),
                *self.new("Q", f"{name}[t]")]  # fmt: skip
