"""
The compiled core of Armillary: HLO, passes, interpreter, back ends.
"""
from __future__ import annotations
import collections.abc
import numpy
import typing
__all__: list[str] = ['Computation', 'Error', 'Executable', 'Instruction', 'InternalError', 'Module', 'Pod', 'ResourceError', 'Shape', 'UnsupportedError', 'UserError', 'blas_loaded', 'compile', 'compile_for', 'cost', 'evaluate', 'get_flag', 'hbm_report', 'list_flags', 'list_ops', 'list_passes', 'list_targets', 'load_blas', 'overlap_report', 'restart_simulated_programs', 'run_passes', 'set_flag', 'set_flags', 'simulate', 'simulated_programs', 'to_dlpack', 'to_xspace']
class Shape:
    """
    Element type, dimensions and layout; or a tuple of such.
    """
    def __eq__(self, arg0: object) -> bool:
        ...
    def __hash__(self) -> int:
        ...
    def __init__(self, text: str) -> None:
        """
        From HLO text: Shape("f32[2,3]{1,0}").
        """
    def __repr__(self) -> str:
        ...
    def __str__(self) -> str:
        ...
    def compatible(self, other: Shape) -> bool:
        """
        Equal but for layouts.
        """
    @property
    def byte_size(self) -> int:
        """
        Bytes in our memory: sub-byte types take one.
        """
    @property
    def dims(self) -> tuple:
        ...
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        """
        The NumPy dtype.
        """
    @property
    def dynamic_dims(self) -> tuple:
        """
        Which dimensions are dynamic; empty when none is.
        """
    @property
    def element_type(self) -> str:
        """
        HLO's name: "f32", "tuple", "token".
        """
    @property
    def elements(self) -> list[Shape]:
        """
        The elements of a tuple.
        """
    @property
    def is_array(self) -> bool:
        ...
    @property
    def is_token(self) -> bool:
        ...
    @property
    def is_tuple(self) -> bool:
        ...
    @property
    def leaves(self) -> list[Shape]:
        """
        The arrays and tokens inside, depth first; an array is its own only leaf.
        """
    @property
    def minor_to_major(self) -> typing.Any:
        """
        The layout's order of dimensions, None when it has no layout.
        """
    @property
    def num_elements(self) -> int:
        ...
class Instruction:
    """
    One HLO instruction.
    """
    def __eq__(self, arg0: object) -> bool:
        ...
    def __hash__(self) -> int:
        ...
    def __repr__(self) -> str:
        ...
    def __str__(self) -> str:
        ...
    @property
    def attributes(self) -> dict:
        """
        By HLO's names, as Python values.
        """
    @property
    def callees(self) -> list:
        ...
    @property
    def computation(self) -> Computation:
        ...
    @property
    def control_predecessors(self) -> list:
        ...
    @property
    def has_effect(self) -> bool:
        ...
    @property
    def is_root(self) -> bool:
        ...
    @property
    def literal(self) -> typing.Any:
        """
        The value of a constant as an array, else None.
        """
    @property
    def metadata(self) -> dict:
        """
        Where it comes from: op_name, source_file, source_line, ...
        """
    @property
    def name(self) -> str:
        ...
    @property
    def op(self) -> str:
        ...
    @property
    def operands(self) -> list:
        ...
    @property
    def parameter_number(self) -> int | None:
        ...
    @property
    def python_place(self) -> typing.Any:
        """
        The user's Python line, None when unknown.
        """
    @property
    def shape(self) -> Shape:
        ...
    @property
    def users(self) -> list:
        ...
class Computation:
    """
    A list of instructions, operands before users.
    """
    def __eq__(self, arg0: object) -> bool:
        ...
    def __hash__(self) -> int:
        ...
    def __iter__(self) -> collections.abc.Iterator:
        ...
    def __len__(self) -> int:
        ...
    def __repr__(self) -> str:
        ...
    def __str__(self) -> str:
        ...
    @property
    def instructions(self) -> list:
        ...
    @property
    def is_entry(self) -> bool:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def parameter_shapes(self) -> list[Shape]:
        ...
    @property
    def parameters(self) -> list:
        ...
    @property
    def result_shape(self) -> Shape:
        ...
    @property
    def root(self) -> Instruction:
        ...
class Module:
    """
    A whole HLO program.
    """
    @staticmethod
    def from_proto(data: bytes, file: str = '') -> Module:
        """
        From the bytes of an HloModuleProto, or of an HloProto around one.
        """
    @staticmethod
    def from_stablehlo(artifact: bytes, file: str = '') -> Module:
        """
        From a StableHLO portable artifact. Raises UnsupportedError for versions it does not know.
        """
    @staticmethod
    def parse(text: str, file: str = '', fill_elided_constants: bool = False) -> Module:
        """
        From HLO text; `file` is named in messages. Raises UserError with line and column.
        """
    def __copy__(self) -> Module:
        ...
    def __deepcopy__(self, arg0: dict) -> Module:
        ...
    def __repr__(self) -> str:
        ...
    def __str__(self) -> str:
        ...
    def clone(self) -> Module:
        ...
    def fill_elided_constants(self) -> int:
        """
        Gives constants that a dump left out as {...} small repeating values; says how many there were.
        """
    def to_dot(self) -> str:
        """
        A Graphviz picture.
        """
    def to_html(self) -> str:
        """
        A page that needs nothing but a browser.
        """
    def to_proto(self) -> bytes:
        """
        The bytes of an HloModuleProto.
        """
    def to_text(self, operand_shapes: bool = False, layouts: bool = True, metadata: bool = True, percent: bool = True, max_constant_elements: typing.SupportsInt | typing.SupportsIndex = -1) -> str:
        """
        HLO text that XLA reads, too.
        """
    def verify(self, stage: str = 'parsed') -> None:
        """
        Raises UserError at the first broken law.
        """
    @property
    def computations(self) -> list:
        """
        Callees before callers; the entry comes last.
        """
    @property
    def donated_parameters(self) -> list[tuple[int, list[int]]]:
        """
        (parameter, index into it) of what the program may overwrite.
        """
    @property
    def entry(self) -> Computation:
        ...
    @property
    def file(self) -> str:
        """
        Where it was read from; for messages.
        """
    @property
    def frontend_attributes(self) -> str:
        ...
    @property
    def instruction_count(self) -> int:
        ...
    @property
    def is_scheduled(self) -> bool:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def num_partitions(self) -> int:
        ...
    @property
    def replica_count(self) -> int:
        ...
class Executable:
    """
    A compiled program.
    """
    def as_text(self) -> str:
        """
        The optimised and scheduled HLO.
        """
    def cost(self) -> dict:
        """
        flops, transcendentals, bytes_accessed, and loops whose trip count is unknown (counted once).
        """
    def execute(self, arrays: collections.abc.Sequence[numpy.ndarray], donated: collections.abc.Sequence[bool] = []) -> list:
        """
        One array per leaf of the parameters in, one per leaf of the result out.
        """
    def kernels(self) -> list:
        """
        The machine code: name, code_bytes, compile_seconds, uses.
        """
    def memory(self) -> dict:
        """
        Bytes by use.
        """
    def passes(self) -> list:
        """
        What each pass did and how long it took.
        """
    @property
    def compile_seconds(self) -> float:
        ...
    @property
    def last_rewrite(self) -> str:
        """
        What flag pass_fuel stopped after; empty when it did not.
        """
    @property
    def module(self) -> Module:
        """
        A copy of the optimised module.
        """
    @property
    def module_name(self) -> str:
        ...
    @property
    def parameter_shapes(self) -> list[Shape]:
        ...
    @property
    def result_shape(self) -> Shape:
        ...
class Pod:
    """
    A simulated pod: chips on a torus.
    """
    def __init__(self, topology: str, chip: str = '', values: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] = [], source: str = '') -> None:
        """
        From chip:shape; with the constants of a chip of the user's own, its shape.
        """
    @property
    def chip(self) -> str:
        ...
    @property
    def devices(self) -> int:
        ...
def blas_loaded() -> bool:
    ...
def compile(module: Module, target: str = 'cpu', optimise: bool = True) -> Executable:
    """
    Compiles a copy of the module.
    """
def compile_for(module: Module, pod: Pod, values: str, overlap: bool = True, partitions: typing.SupportsInt | typing.SupportsIndex = 0) -> Executable:
    """
    Compiles a copy of the module for the pod. values: none, program or array; overlap: collectives run beside computation; partitions: how many it is for, where the module does not say.
    """
def cost(module: Module) -> dict:
    """
    flops, transcendentals, bytes_accessed, unknown_loops of one execution.
    """
def evaluate(module: Module, arrays: collections.abc.Sequence[numpy.ndarray]) -> typing.Any:
    """
    The interpreter: one array per array leaf of the parameters; the result as an array or nested tuples.
    """
def get_flag(name: str) -> str:
    """
    The value in force, as text.
    """
def hbm_report(executable: Executable, pod: Pod) -> dict:
    """
    Peak HBM of one device and what takes it.
    """
def list_flags() -> list:
    """
    The flags: name, type, default, doc, values (that it takes; empty: any), value.
    """
def list_ops() -> list:
    """
    The op table: name, stablehlo, arity (-1: any), attributes, optional, meaning, doc, runs.
    """
def list_passes() -> list:
    """
    The pass registry: name, doc, needed (no flag switches it off).
    """
def list_targets() -> list:
    """
    What can be compiled for: name, doc, unavailable (why not, or empty).
    """
def load_blas(path: str) -> bool:
    """
    Tells the cpu back end where OpenBLAS lies; False when it is none.
    """
def overlap_report(executable: Executable) -> list:
    """
    What the scheduler gained by running collectives beside computation, a dict for each computation.
    """
def restart_simulated_programs() -> None:
    """
    Sets all counts of runs to nothing.
    """
def run_passes(module: Module, passes: str, verify_each: bool = True, dump_dir: str = '') -> tuple:
    """
    Runs "a,b,fixpoint(c,d)" on a copy: (the new module, a record per pass).
    """
def set_flag(name: str, value: str) -> None:
    """
    Sets one flag from text; raises UserError that names the nearest flag.
    """
def set_flags(flags: str) -> None:
    """
    Several, as in ARMILLARY_FLAGS: "threads=4,verify_each=true".
    """
def simulate(executable: Executable, pod: Pod, allow_oom: bool = False, progress: collections.abc.Callable[[float], None] | None = None) -> dict:
    """
    How long the program takes: a timeline as a dict. `progress` is called with the share that is done.
    """
def simulated_programs() -> list:
    """
    What JAX has compiled for the simulated TPU of this process, how often it ran and how long one run takes.
    """
def to_dlpack(array: numpy.ndarray) -> typing.Any:
    """
    A DLPack capsule over the memory of an array.
    """
def to_xspace(device: tuple[str, str, typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex], program: str, seconds: typing.SupportsFloat | typing.SupportsIndex, rows: collections.abc.Sequence[str], ops: collections.abc.Sequence[tuple[str, str, str, str, typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex]], spans: collections.abc.Sequence[tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex]]) -> bytes:
    """
    A timeline as XProf's XSpace: the device as (name, kind, peak FLOP/s, HBM bytes/s), ops as (name, class, op_name, source, flops, bytes), spans as (row, op, start, end).
    """
class Error(Exception):
    """
    Anything the core refuses or fails at; has kind, where and message.
    """
    kind: str
    where: str
    message: str
class UserError(Error, ValueError):
    """
    The input is wrong.
    """
class UnsupportedError(Error, NotImplementedError):
    """
    The input is right, but Armillary cannot do it yet.
    """
class ResourceError(Error, MemoryError):
    """
    Memory, threads or files are missing.
    """
class InternalError(Error, RuntimeError):
    """
    A mistake in Armillary itself.
    """
