"""FLOPs and bytes of every operator that has a model, from arguments written by hand."""

import pytest

from efficiency_by_hand import BF16, FP8, HALF, Operators

GELU = "vectorized_elementwise_kernel"


def t(*dims, of=BF16, strides=None):
    return (dims, of, strides) if strides else (dims, of)


def clamp(value, low, high):
    return max(low, min(value, high))


def pairs(queries, keys, shift=0, left=None):
    """Keys that queries see which begin at some place among them."""
    return sum(clamp(i + shift, 0, keys) if left is None else min(clamp(i + shift, 0, keys), left + 1)
               for i in range(1, queries + 1))


M, K, N, B = 64, 96, 160, 6
Q, C = t(2, 8, 100, 64), t(2, 2, 140, 64)  # queries and keys: heads first, fewer heads of keys
LQ, LC = t(2, 100, 8, 64), t(2, 140, 2, 64)  # the same, lengths first
QBYTES, CBYTES = 2 * 8 * 100 * 64 * 2, 2 * 2 * 140 * 64 * 2
PACKED, OFFSETS = t(1000, 8, 64), t(5, of="int")  # four sequences of 250 tokens each
MASK = t(2, 8, 100, 140)
SAMPLING = [None, "0.", "False", "0.125"]


def attention(pairs_, backward=False, size=64, heads=16):
    """FLOPs as executed, of the model, and with nothing masked of 100 x 140."""
    executed = 5 * size if backward else 2 * size
    modelled = 4 * size if backward else 2 * size
    return 2 * heads * pairs_ * executed, 2 * heads * pairs_ * modelled


FORWARD, BACKWARD = 2 * (QBYTES + CBYTES), 2 * (2 * QBYTES + 2 * CBYTES)
TOP, BOTTOM, ALL = pairs(100, 140), pairs(100, 140, 40), 100 * 140
GRADIENTS = {"scaled": [Q, Q, C, C, Q, t(2, 8, 100, of="float")], "flash": [LQ, LQ, LC, LC, LQ, t(2, 8, 100, of="float")]}
EL = 50 * 40
BIG = t(50, 40)

# name: (arguments, FLOPs, bytes, family, unit, kernels)
PRODUCTS = {
    "aten::mm": ([t(M, K), t(K, N)], 2 * M * N * K, 2 * (M * K + K * N + M * N)),
    "aten::mm 32-bit result": ([t(M, K), t(K, N), t(M, N, of="float")], 2 * M * N * K, 2 * (M * K + K * N) + 4 * M * N),
    "aten::_int_mm": ([t(M, K, of="signed char"), t(K, N, of="signed char")], 2 * M * N * K, M * K + K * N + 4 * M * N),
    "aten::addmm": ([t(N), t(M, K), t(K, N), "1", "1"], 2 * M * N * K + M * N, 2 * (N + M * K + K * N + M * N)),
    "aten::addmm_": ([t(M, N), t(M, K), t(K, N), "1", "1"], 2 * M * N * K + M * N, 2 * (M * K + K * N + 2 * M * N)),
    "aten::_addmm_activation": ([t(N), t(M, K), t(K, N), "1", "1", "True"], 2 * M * N * K + M * N,
                                2 * (N + M * K + K * N + M * N)),
    "aten::linear": ([t(2, M, K), t(N, K), t(N)], 4 * M * N * K + 2 * M * N, 2 * (2 * M * K + N * K + N + 2 * M * N)),
    "aten::linear no bias": ([t(2, M, K), t(N, K), None], 4 * M * N * K, 2 * (2 * M * K + N * K + 2 * M * N)),
    "aten::bmm": ([t(B, M, K), t(B, K, N)], 2 * B * M * N * K, 2 * B * (M * K + K * N + M * N)),
    "aten::baddbmm": ([t(B, M, N), t(B, M, K), t(B, K, N), "1", "1"], B * (2 * M * N * K + M * N),
                      2 * B * (M * K + K * N + 2 * M * N)),
    "aten::matmul": ([t(3, 1, M, K), t(5, K, N)], 15 * 2 * M * N * K, 2 * (3 * M * K + 5 * K * N + 15 * M * N)),
    "aten::matmul vectors": ([t(K), t(K)], 2 * K, 2 * (K + K)),
    "aten::_scaled_mm": ([t(M, K, of=FP8), t(K, N, of=FP8), ((), "float"), ((), "float"), t(N), None, "15", "False"],
                         2 * M * N * K + M * N, M * K + K * N + 2 * N + 2 * M * N),
    "aten::_scaled_mm rows": ([t(M, K, of=FP8), t(K, N, of=FP8), t(M, 1, of="float"), t(1, N, of="float"), None, None, "6",
                               "False"], 2 * M * N * K, M * K + K * N + 4 * M + 4 * N + 4 * M * N),
    "aten::_grouped_mm": ([t(M, K), t(8, K, N), t(8, of="int"), None, None], 2 * M * N * K,
                          2 * (M * K + 8 * K * N + M * N)),
    "aten::_grouped_mm 3x2": ([t(8, M, K), t(K, N), t(8, of="int"), None, None], 2 * M * N * K,
                              2 * (8 * M * K + K * N + M * N)),
    "aten::_grouped_mm 2x2": ([t(M, K), t(K, N), t(8, of="int"), None, None], 2 * M * N * K,
                              2 * (M * K + K * N + 8 * M * N)),
    "aten::_grouped_mm 3x3": ([t(8, M, K), t(8, K, N), None, None, None], 16 * M * N * K,
                              2 * 8 * (M * K + K * N + M * N)),
    "aten::_scaled_grouped_mm": ([t(M, K, of=FP8), t(8, K, N, of=FP8), t(M, of="float"), t(8, N, of="float"),
                                  t(8, of="int"), None, None, "15", "False"], 2 * M * N * K, M * K + 8 * K * N + 2 * M * N),
    "triton_tem_fused_mm_0": ([t(N), t(M, K), t(K, N), t(M, N), "4096"], 2 * M * N * K, 2 * (M * K + K * N + M * N)),
    "triton_tem_fused_bmm_1": ([t(B, M, K), t(B, K, N), t(B, M, N)], 2 * B * M * N * K, 2 * B * (M * K + K * N + M * N)),
}

X, W = t(4, 32, 28, 30), t(64, 16, 3, 5)  # two groups
OUT = 4 * 64 * 14 * 13
WEIGHTS = 16 * 3 * 5
XB, WB = 2 * 4 * 32 * 28 * 30, 2 * 64 * WEIGHTS
GEOMETRY = {"stride": "[2, 2]", "padding": "[1, 0]", "dilation": "[1, 1]"}
S, P, D = GEOMETRY.values()
FOLDED = 4 * (12 * 2) * ((28 - 1) * 2 - 2 + 2 + 1 + 1) * ((30 - 1) * 2 + 4 + 1)  # transposed, one more row than columns
TW, TWB = t(32, 12, 3, 5), 2 * 32 * 12 * 3 * 5
CONVOLUTIONS = {
    "aten::convolution": ([X, W, None, S, P, D, "False", "[0, 0]", "2"], 2 * OUT * WEIGHTS, XB + WB + 2 * OUT),
    "aten::_convolution": ([X, W, t(64), S, P, D, "False", "[0, 0]", "2"], 2 * OUT * WEIGHTS + OUT, XB + WB + 2 * OUT + 128),
    "aten::convolution transposed": ([X, TW, None, S, P, D, "True", "[1, 0]", "2"], 2 * 4 * 32 * 28 * 30 * 12 * 3 * 5,
                                     XB + TWB + 2 * FOLDED),
    "aten::conv1d": ([t(4, 8, 100), t(16, 8, 5), None, "[1]", "[2]", "[1]", "1"], 2 * 4 * 16 * 100 * 40,
                     2 * (4 * 8 * 100 + 16 * 8 * 5 + 4 * 16 * 100)),
    "aten::conv2d": ([X, W, None, "[2]", "[1, 0]", "[1]", "2"], 2 * OUT * WEIGHTS, XB + WB + 2 * OUT),
    "aten::conv3d": ([t(1, 4, 8, 8, 8), t(8, 4, 3, 3, 3), None, "[1]", "[0]", "[2]", "1"], 2 * 8 * 64 * 4 * 27,
                     2 * (4 * 512 + 8 * 4 * 27 + 8 * 64)),
    "aten::cudnn_convolution": ([X, W, P, S, D, "2", "False", "False", "True"], 2 * OUT * WEIGHTS, XB + WB + 2 * OUT),
    "aten::cudnn_convolution_transpose": ([X, TW, P, "[1, 0]", S, D, "2", "False", "False", "True"],
                                          2 * 4 * 32 * 28 * 30 * 12 * 3 * 5, XB + TWB + 2 * FOLDED),
    "aten::miopen_convolution": ([X, W, None, P, S, D, "2", "False", "False"], 2 * OUT * WEIGHTS, XB + WB + 2 * OUT),
    "aten::convolution_backward": ([t(4, 64, 14, 13), X, W, "[0]", S, P, D, "False", "[0, 0]", "2", "[True, True, False]"],
                                   4 * OUT * WEIGHTS, 2 * OUT + 2 * (XB + WB)),
    "aten::convolution_backward weights": ([t(4, 64, 14, 13), X, W, "[64]", S, P, D, "False", "[0, 0]", "2",
                                            "[False, True, True]"], 2 * OUT * WEIGHTS + OUT, 2 * OUT + XB + WB),
}

ATTENTION = {
    "aten::scaled_dot_product_attention": ([Q, C, C, None, "0.", "False", None, "True"], ALL, FORWARD),
    "aten::scaled_dot_product_attention causal": ([Q, C, C, None, "0.", "True", None, "True"], TOP, FORWARD),
    "aten::scaled_dot_product_attention mask": ([Q, C, C, MASK, "0.", "False", None, "True"], ALL, FORWARD + 2 * 2 * 8 * ALL),
    "aten::_scaled_dot_product_flash_attention": ([Q, C, C, "0.", "True", "False", None], TOP, FORWARD),
    "aten::_scaled_dot_product_efficient_attention": ([Q, C, C, None, "True", "0.", "True", None], TOP, FORWARD),
    "aten::_scaled_dot_product_cudnn_attention": ([Q, C, C, None, "True", "0.", "True", "False", None], TOP, FORWARD),
    "aten::_cudnn_attention_forward": ([Q, C, C, None, None, None, "100", "140", "True", "0.", "True", "False", None], TOP,
                                       FORWARD),
    "aten::_flash_attention_forward": ([LQ, LC, LC, None, None, "100", "140", "0.", "True", "False", None, None, None],
                                       BOTTOM, FORWARD),
    "aten::_flash_attention_forward window": ([LQ, LC, LC, None, None, "100", "140", "0.", "True", "False", None, "15", "0"],
                                              pairs(100, 140, 40, 15), FORWARD),
    "aten::_flash_attention_forward one query": ([t(2, 1, 8, 64), LC, LC, None, None, "1", "140", "0.", "True", "False",
                                                  None, None, None], 140, 2 * CBYTES + 2 * 2 * (2 * 8 * 64)),
    "aten::_efficient_attention_forward": ([LQ, LC, LC, None, None, None, None, None, "0.", "0"], ALL, FORWARD),
    "aten::_efficient_attention_forward top left": ([LQ, LC, LC, None, None, None, None, None, "0.", "1"], TOP, FORWARD),
    "aten::_efficient_attention_forward bottom right": ([LQ, LC, LC, None, None, None, None, None, "0.", "2"], BOTTOM,
                                                        FORWARD),
    "flash_attn::_flash_attn_forward": ([LQ, LC, LC, "0.", "0.125", "True", "-1", "-1"], BOTTOM, FORWARD),
    "flash_attn_3::fwd": ([LQ, LC, LC, *[None] * 21, "True", "-1"], BOTTOM, FORWARD),
}
ATTENTION_BACKWARD = {
    "aten::_scaled_dot_product_flash_attention_backward": (
        [*GRADIENTS["scaled"], None, None, "100", "140", "0.", "True"], TOP, BACKWARD),
    "aten::_scaled_dot_product_efficient_attention_backward": (
        [Q, Q, C, C, None, Q, t(2, 8, 100, of="float"), None, None, "0.", "[True]", "True"], TOP, BACKWARD),
    "aten::_scaled_dot_product_cudnn_attention_backward": (
        [*GRADIENTS["scaled"], None, None, None, None, None, "100", "140", "0.", "True"], TOP, BACKWARD),
    "aten::_cudnn_attention_backward": (
        [*GRADIENTS["scaled"], None, None, None, None, None, "100", "140", "0.", "False"], ALL, BACKWARD),
    "aten::_flash_attention_backward": (
        [*GRADIENTS["flash"], None, None, "100", "140", "0.", "True", None, None, None, "15", "0"],
        pairs(100, 140, 40, 15), BACKWARD),
    "aten::_efficient_attention_backward": ([LQ, LQ, LC, LC, None, LQ, None, None, "100", "140", None, "0.", None, None, "1"],
                                            TOP, BACKWARD),
    "flash_attn::_flash_attn_backward": ([LQ, LQ, LC, LC, LQ, None, LQ, LC, LC, "0.", "0.125", "False", "-1", "-1"], ALL,
                                         BACKWARD),
}
PACKED_BYTES = 2 * 1000 * 8 * 64
PACKED_ATTENTION = {
    "aten::_flash_attention_forward packed": ([PACKED] * 3 + [OFFSETS, OFFSETS, "400", "400", "0.", "True", "False"],
                                              pairs(250, 250), False),
    "aten::_flash_attention_backward packed": ([PACKED] * 5 + [None, OFFSETS, OFFSETS, "400", "400", "0.", "True"],
                                               pairs(250, 250), True),
    "flash_attn::_flash_attn_varlen_forward": ([PACKED] * 3 + [OFFSETS, OFFSETS, "400", "400", "0.", "0.1", "False", "-1"],
                                               250 * 250, False),
    "flash_attn::_flash_attn_varlen_backward": ([PACKED] * 5 + [None] + [PACKED] * 3 + [
        OFFSETS, OFFSETS, "400", "400", "0.", "0.1", "True", "-1"], pairs(250, 250), True),
    "aten::_efficient_attention_forward packed": ([t(1, 1000, 8, 64)] * 3 + [None, OFFSETS, OFFSETS, "400", "400", "0.", "0"],
                                                  250 * 250, False),
}

VECTORS = {
    "aten::layer_norm": ([BIG, "[40]", t(40), t(40), "1e-05"], None, 2 * (2 * EL + 80), "norm"),
    "aten::native_layer_norm": ([BIG, "[40]", t(40), t(40), "1e-05"], None, 2 * (2 * EL + 80), "norm"),
    "aten::_fused_rms_norm": ([BIG, "[40]", t(40), None], None, 2 * (2 * EL + 40), "norm"),
    "aten::rms_norm": ([BIG, "[40]", t(40), None], None, 2 * (2 * EL + 40), "norm"),
    "aten::native_group_norm": ([BIG, t(40), t(40), "50", "40", "1", "4", "1e-05"], None, 2 * (2 * EL + 80), "norm"),
    "aten::native_batch_norm": ([BIG, t(40), t(40), t(40, of="float"), t(40, of="float")], None, 2 * (2 * EL + 80) + 320,
                                "norm"),
    "aten::cudnn_batch_norm": ([BIG, t(40)], None, 2 * (2 * EL + 40), "norm"),
    "aten::miopen_batch_norm": ([BIG, t(40)], None, 2 * (2 * EL + 40), "norm"),
    "aten::_native_batch_norm_legit": ([BIG, t(40)], None, 2 * (2 * EL + 40), "norm"),
    "aten::native_layer_norm_backward": ([BIG, BIG, "[40]", t(50, 1, of="float"), t(50, 1, of="float"), t(40), t(40)], None,
                                         2 * (3 * EL + 80) + 400, "norm"),
    "aten::_fused_rms_norm_backward": ([BIG, BIG, "[40]", t(50, 1, of="float"), t(40)], None, 2 * (3 * EL + 40) + 200, "norm"),
    "aten::native_group_norm_backward": ([BIG, BIG, t(50), t(50)], None, 2 * (3 * EL + 100), "norm"),
    "aten::native_batch_norm_backward": ([BIG, BIG, t(40)], None, 2 * (3 * EL + 40), "norm"),
    "aten::cudnn_batch_norm_backward": ([BIG, BIG, t(40)], None, 2 * (3 * EL + 40), "norm"),
    "aten::miopen_batch_norm_backward": ([BIG, BIG, t(40)], None, 2 * (3 * EL + 40), "norm"),
    "_C::rms_norm": ([BIG, BIG, t(40), "1e-05"], None, 2 * (2 * EL + 40), "norm"),
    "_C::fused_add_rms_norm": ([BIG, BIG, t(40), "1e-05"], None, 2 * (4 * EL + 40), "norm"),
    "aten::softmax": ([BIG, "-1", None], None, 4 * EL, "softmax"),
    "aten::_softmax": ([BIG, "-1", "True"], None, 2 * EL + 4 * EL, "softmax"),
    "aten::log_softmax": ([BIG, "-1", None], None, 4 * EL, "softmax"),
    "aten::_log_softmax": ([BIG, "-1", "False"], None, 4 * EL, "softmax"),
    "aten::_softmax_backward_data": ([t(50, 40, of="float")] * 2 + ["-1", "15"], None, 10 * EL, "softmax"),
    "aten::_log_softmax_backward_data": ([t(50, 40, of="float")] * 2 + ["-1", "6"], None, 12 * EL, "softmax"),
    "aten::sum": ([BIG, "[-1]", "False", None], EL, 2 * (EL + 50), "reduction"),
    "aten::sum of a type": ([BIG, "6"], EL, 2 * EL, "reduction"),
    "aten::mean of a type that could be a dimension": ([BIG, "1"], EL, 2 * EL, "reduction"),
    "aten::sum all": ([BIG, None], EL, 2 * EL, "reduction"),
    "aten::mean": ([BIG, "[0]", "True", None], EL, 2 * (EL + 40), "reduction"),
    "aten::amax": ([BIG, "[0, 1]", "False"], None, 2 * EL, "reduction"),
    "aten::amin": ([BIG, "[1]", "False"], None, 2 * (EL + 50), "reduction"),
    "aten::any": ([BIG, "1", "False"], None, 2 * EL + 50, "reduction"),
    "aten::all": ([BIG], None, 2 * EL, "reduction"),
    "aten::argmax": ([BIG, "-1", "False"], None, 2 * EL + 400, "reduction"),
    "aten::argmin": ([BIG, "0", "False"], None, 2 * EL + 320, "reduction"),
    "aten::max": ([BIG, "1", "False"], None, 2 * EL + 50 * 10, "reduction"),
    "aten::min all": ([BIG], None, 2 * EL, "reduction"),
    "aten::max of two": ([BIG, t(40)], None, 2 * (2 * EL + 40), "elementwise"),
    "aten::prod": ([BIG, "1", "False", None], None, 2 * (EL + 50), "reduction"),
    "aten::std": ([BIG, "True"], None, 2 * EL, "reduction"),
    "aten::var": ([BIG, "[1]", "1", "False"], None, 2 * (EL + 50), "reduction"),
    "aten::var_mean": ([BIG, "[1]", "1", "False"], None, 2 * (EL + 50), "reduction"),
    "aten::logsumexp": ([BIG, "[1]", "False"], None, 2 * (EL + 50), "reduction"),
    "aten::norm": ([BIG, "2", "[1]", "False"], None, 2 * (EL + 50), "reduction"),
    "aten::linalg_vector_norm": ([BIG, "2", None, "False", None], None, 2 * EL, "reduction"),
    "aten::nll_loss_forward": ([t(50, 40, of="float"), t(50, of="long int"), None, "1", "-100"], None, 50 * 12, "loss"),
    "aten::nll_loss_backward": ([((), "float"), t(50, 40, of="float"), t(50, of="long int")], None, 50 * 12, "loss"),
    "aten::topk": ([BIG, "5", "-1", "True", "True"], None, 2 * EL, "sort"),
    "aten::sort": ([BIG, "-1", "False"], None, 2 * EL, "sort"),
    "aten::copy_": ([t(50, 40, of="float"), BIG, "False"], 0, 6 * EL, "copy"),
    "aten::fill_": ([BIG, ((), "float")], 0, 2 * EL, "fill"),
    "aten::zero_": ([BIG], 0, 2 * EL, "fill"),
    "aten::normal_": ([BIG, "0.", "1.", None], 0, 2 * EL, "fill"),
    "aten::uniform_": ([BIG, "0.", "1.", None], 0, 2 * EL, "fill"),
    "aten::random_": ([BIG], 0, 2 * EL, "fill"),
    "aten::exponential_": ([BIG, "1."], 0, 2 * EL, "fill"),
    "aten::bernoulli_": ([BIG, "0.5"], 0, 2 * EL, "fill"),
    "aten::index_select": ([t(100, 7, 30), "1", t(20, of="long int")], 0, 2 * (100 * 30 * 7 + 100 * 30 * 20) + 160, "index"),
    "aten::embedding": ([t(1000, 30), t(4, 5, of="long int"), "-1"], 0, 4 * 20 * 30 + 160, "index"),
    "aten::gather": ([t(1000, 30), "0", t(20, 30, of="long int", strides=[1, 0]), "False", t(20, 30)], 0, 4 * 600 + 160,
                     "index"),
    "aten::embedding_dense_backward": ([t(4, 5, 30), t(4, 5, of="long int"), "1000", "-1", "False"], None,
                                       2 * 600 + 160 + 2 * 30000, "index"),
    "aten::index_add_": ([t(100, 30), "0", t(20, of="long int"), t(20, 30), "1"], None, 3 * 2 * 600 + 160, "index"),
}

ONE = ["silu", "relu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "neg", "abs", "reciprocal", "cos", "sin", "erf",
       "floor", "ceil", "round", "sign", "bitwise_not", "square", "log1p", "expm1", "log2", "exp2"]
VALUES = {"gelu": ["none"], "leaky_relu": ["0.01"], "clamp_min": ["0"], "clamp_max": ["1"], "pow": ["2"], "triu": ["0"],
          "tril": ["0"], "hardtanh": ["-1", "1"], "softplus": ["1", "20"], "clamp": ["0", "1"], "elu": ["1", "1", "1"]}
TWO = ["mul", "maximum", "minimum", "remainder", "fmod", "floor_divide", "bitwise_and", "bitwise_or", "bitwise_xor", "atan2"]
FLOP = {"add", "sub", "rsub", "mul", "div", "neg", "abs", "relu", "clamp", "clamp_min", "clamp_max", "maximum", "minimum"}
COMPARED = ["eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or"]
TESTED = ["logical_not", "isnan", "isinf", "isfinite"]
BACKWARDS = {"silu": 2, "tanh": 2, "sigmoid": 2, "gelu": 3, "threshold": 3, "hardtanh": 4, "leaky_relu": 4, "softplus": 4,
             "elu": 6}


def elementwise():
    """Every operator with a result of its own, and in place; a tensor after its arguments is the result."""
    cases = {}

    def add(name, values, inputs, result):
        flops = EL if name in FLOP else None
        cases[f"aten::{name}"] = (values, flops, inputs + result, "elementwise")
        cases[f"aten::{name} out"] = ([*values, BIG], flops, inputs + result, "elementwise")
        cases[f"aten::{name}_"] = (values, flops, inputs + 2 * EL, "elementwise")

    for name in ONE:
        add(name, [BIG], 2 * EL, 2 * EL)
    for name, values in VALUES.items():
        add(name, [BIG, *values], 2 * EL, 2 * EL)
    for name in ["add", "sub", "rsub"]:
        add(name, [BIG, t(40), "1"], 2 * EL + 80, 2 * EL)
    for name in [*TWO, "div"]:
        add(name, [BIG, t(50, 1)], 2 * EL + 100, 2 * EL)
    for name in COMPARED:
        add(name, [BIG, BIG], 4 * EL, EL)
    for name in TESTED:
        add(name, [BIG], 2 * EL, EL)
    add("where", [t(50, 40, of="bool"), BIG, BIG], 5 * EL, 2 * EL)
    del cases["aten::where_"]
    add("masked_fill", [BIG, t(50, 40, of="bool"), ((), "double")], 3 * EL, 2 * EL)
    add("lerp", [BIG, BIG, "0.5"], 4 * EL, 2 * EL)
    for name in ["addcmul", "addcdiv"]:
        add(name, [BIG, BIG, BIG, "1"], 6 * EL, 2 * EL)
    for name, count in BACKWARDS.items():
        values = [BIG, "1", "1", "1", "False", BIG] if name == "elu" else [BIG, BIG, *["1"] * (count - 2)]
        cases[f"aten::{name}_backward"] = (values, None, 6 * EL, "elementwise")
    return cases


LONG, FLOAT, DOUBLE = "long int", "float", "double"
PROMOTED = {
    "aten::mul wider": ([BIG, t(50, 40, of=FLOAT)], EL, 10 * EL),
    "aten::mul half": ([BIG, t(50, 40, of=HALF)], EL, 8 * EL),
    "aten::mul integers": ([BIG, t(50, 40, of=LONG)], EL, 12 * EL),
    "aten::mul number": ([BIG, ((), DOUBLE)], EL, 4 * EL),
    "aten::mul numbers": ([((), FLOAT), ((), DOUBLE)], 1, 0),
    "aten::mul bool": ([t(50, 40, of="bool"), t(50, 40, of="int")], EL, 9 * EL),
    "aten::div integers": ([t(50, 40, of=LONG), ((), LONG)], EL, 12 * EL),
    "aten::add broadcast": ([t(50, 1), t(1, 40), "1"], EL, 180 + 2 * EL),
    "aten::mul expanded": ([t(50, 40, strides=[1, 0]), BIG], EL, 100 + 4 * EL),
}

FUSED = {
    "triton_poi_fused_silu_0": ([BIG, str(EL)], 4 * EL),
    "triton_poi_fused_zeros_1": ([BIG, str(EL)], 2 * EL),
    "triton_poi_fused_add_2": ([BIG, BIG, t(50, 40, of=FLOAT), str(EL)], 8 * EL),
    "triton_red_fused_sum_3": ([BIG, "50", "40"], 2 * EL),
    "triton_per_fused_mean_4": ([BIG, t(50, of=FLOAT), "50", "40"], 2 * EL + 200),
    "triton_poi_fused_embedding_5": ([t(1000, 40), t(50, of=LONG), BIG, str(EL)], 4 * EL + 400),
    "triton_red_fused_nll_loss_6": ([t(1000, 40), "5", "4"], 40),
}


def operator(case):
    return case.split()[0]


def work_of(gputime, folder, name, values, kernels=("kernel_a",)):
    rows = Operators().run(name, values, kernels).tables(gputime, folder)
    assert len(rows["op_efficiency"]) == 1, rows["waterfall"]
    row = rows["op_efficiency"][0]
    assert row["op"] == name and row["count"] == 1 and row["kernels"] == len(kernels)
    return row, rows["mfu"][0]


@pytest.mark.parametrize("case", PRODUCTS)
def test_product(gputime, tmp_path, case):
    values, flops, size = PRODUCTS[case]
    row, mfu = work_of(gputime, tmp_path, operator(case), values)
    assert (row["family"], row["flops"], row["bytes"]) == ("gemm", flops, size)
    assert (mfu["flops"], mfu["model_flops"], mfu["dense_flops"]) == (flops, flops, flops)


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution(gputime, tmp_path, case):
    values, flops, size = CONVOLUTIONS[case]
    row, _ = work_of(gputime, tmp_path, operator(case), values)
    assert (row["family"], row["flops"], row["bytes"]) == ("conv", flops, size)


@pytest.mark.parametrize("case", [*ATTENTION, *ATTENTION_BACKWARD])
def test_attention(gputime, tmp_path, case):
    is_backward = case in ATTENTION_BACKWARD
    values, seen, size = (ATTENTION_BACKWARD if is_backward else ATTENTION)[case]
    dense = 140 if "one query" in case else ALL
    row, mfu = work_of(gputime, tmp_path, operator(case), values)
    executed, modelled = attention(seen, is_backward)
    assert (row["family"], row["flops"], row["bytes"], row["provenance"]) == ("attention", executed, size, "shape")
    assert (mfu["model_flops"], mfu["dense_flops"]) == (modelled, attention(dense, is_backward)[1])
    assert row["shape"].endswith("causal") == (seen != dense or "one query" in case)


@pytest.mark.parametrize("case", PACKED_ATTENTION)
def test_packed_attention(gputime, tmp_path, case):
    """Lengths are data: equal ones are the least work."""
    values, seen, is_backward = PACKED_ATTENTION[case]
    row, _ = work_of(gputime, tmp_path, operator(case), values)
    assert row["provenance"] == "bound"
    assert row["flops"] == attention(seen, is_backward, heads=4 * 8)[0]
    assert row["bytes"] == (8 if is_backward else 4) * PACKED_BYTES


@pytest.mark.parametrize("case", [*VECTORS, *elementwise()])
def test_vector_work(gputime, tmp_path, case):
    values, flops, size, family = (VECTORS | elementwise())[case]
    row, mfu = work_of(gputime, tmp_path, operator(case), values)
    assert (row["family"], row["unit"], row["flops"], row["bytes"]) == (family, "fp32", flops, size)
    assert mfu["flops"] == 0 and mfu["hfu"] is None


@pytest.mark.parametrize("case", PROMOTED)
def test_types_of_results(gputime, tmp_path, case):
    values, flops, size = PROMOTED[case]
    row, _ = work_of(gputime, tmp_path, operator(case), values)
    assert (row["flops"], row["bytes"]) == (flops, size)


@pytest.mark.parametrize("case", FUSED)
def test_fused_kernels(gputime, tmp_path, case):
    values, size = FUSED[case]
    row, _ = work_of(gputime, tmp_path, case, values, kernels=(case,))
    assert (row["family"], row["flops"], row["bytes"]) == ("fused", None, size)


def test_concatenation(gputime, tmp_path):
    """Lists have no types: the kernel's name has the size of an element."""
    kernel = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::OpaqueType<4u>, unsigned int, 4>(char*)"
    row, _ = work_of(gputime, tmp_path, "aten::cat", [[[50, 40], [0], [7, 40]], "0"], kernels=(kernel,))
    assert (row["family"], row["flops"], row["bytes"]) == ("copy", 0, 2 * 4 * 57 * 40)
    assert row["shape"].startswith("[50x40,0,7x40]")


@pytest.mark.parametrize("type_, kernel, unit", [
    (BF16, "kernel_a", "bf16"), (HALF, "kernel_a", "bf16"), (FP8, "kernel_a", "fp8"), ("signed char", "kernel_a", "int8"),
    (FLOAT, "simt_sgemm", "fp32"), (FLOAT, "nvjet_sm90_sss", "tf32"), (FLOAT, "cutlass_tf32_gemm", "tf32"),
    (FLOAT, "ampere_s1688gemm", "tf32"), (FLOAT, "gemm_bf16x9", "tf32"), (DOUBLE, "kernel_a", "fp64")])
def test_unit(gputime, tmp_path, type_, kernel, unit):
    row, _ = work_of(gputime, tmp_path, "aten::mm", [t(M, K, of=type_), t(K, N, of=type_)], kernels=(kernel,))
    assert row["unit"] == unit and row["roofline_ns"] is not None


# ---- arguments that do not suffice ----

HUGE = 10 ** 18
LACKING = {
    "no types": ("aten::mm", {"Input Dims": [[M, K], [K, N]]}),
    "no list": ("aten::mm", {"Input Dims": "mm", "Input type": [BF16, BF16]}),
    "sizes as text": ("aten::mm", {"Input Dims": [["64", "96"], [K, N]], "Input type": [BF16, BF16]}),
    "nested too deep": ("aten::mm", {"Input Dims": [[[[M, K]]], [K, N]], "Input type": [BF16, BF16]}),
    "negative": ("aten::mm", {"Input Dims": [[M, -K], [-K, N]], "Input type": [BF16, BF16]}),
    "fractions": ("aten::mm", {"Input Dims": [[M, 9.5], [9.5, N]], "Input type": [BF16, BF16]}),
    "not a product": ("aten::mm", {"Input Dims": [[M, K], [K + 1, N]], "Input type": [BF16, BF16]}),
    "one dimension": ("aten::mm", {"Input Dims": [[M], [M]], "Input type": [BF16, BF16]}),
    "no second factor": ("aten::mm", {"Input Dims": [[M, K]], "Input type": [BF16]}),
    "unknown type": ("aten::mm", {"Input Dims": [[M, K], [K, N]], "Input type": ["c10::Float4", "c10::Float4"]}),
    "too many FLOPs": ("aten::mm", {"Input Dims": [[HUGE, HUGE], [HUGE, HUGE]], "Input type": [BF16, BF16]}),
    "too many bytes": ("aten::copy_", {"Input Dims": [[HUGE, 9], [HUGE, 9]], "Input type": [DOUBLE, DOUBLE]}),
    "product of 2^64": ("aten::copy_", {"Input Dims": [[2 ** 32, 2 ** 32], [1]], "Input type": [BF16, BF16]}),
    "product of 2^128": ("aten::copy_", {"Input Dims": [[2 ** 32] * 4, [1]], "Input type": [BF16, BF16]}),
    "beyond 64 bits": ("aten::copy_", {"Input Dims": [[2 ** 70], [1]], "Input type": [BF16, BF16]}),
    "a million dimensions": ("aten::copy_", {"Input Dims": [[2] * 10 ** 6, [2]], "Input type": [BF16, BF16]}),
    "a million tensors": ("aten::cat", {"Input Dims": [[[2 ** 50]] * 10 ** 6, []], "Input type": ["TensorList", "Scalar"]}),
    "the least number": ("aten::mm", {"Input Dims": [[M, -2 ** 63], [-2 ** 63, N]], "Input type": [BF16, BF16]}),
    "too many batches": ("aten::bmm", {"Input Dims": [[2 ** 62, 4, 4]] * 2, "Input type": [BF16, BF16]}),
    "too large a bias": ("aten::addmm", {"Input Dims": [[HUGE], [HUGE, 2], [2, HUGE]], "Input type": [BF16] * 3}),
    "too many pairs": ("aten::_scaled_dot_product_flash_attention", {
        "Input Dims": [[HUGE, HUGE, HUGE, HUGE]] * 3 + [[]] * 4, "Input type": [BF16] * 3 + ["Scalar"] * 4,
        "Concrete Inputs": [""] * 3 + ["0.", "True", "False", ""]}),
    "shapes do not broadcast": ("aten::mul", {"Input Dims": [[50, 40], [30]], "Input type": [BF16, BF16]}),
    "dimension out of range": ("aten::sum", {"Input Dims": [[50, 40], []], "Input type": [BF16, "ScalarList"],
                                             "Concrete Inputs": ["", "[2]"]}),
    "no stride": ("aten::conv2d", {"Input Dims": [[4, 3, 9, 9], [8, 3, 3, 3]], "Input type": [BF16, BF16]}),
    "filter larger than its input": ("aten::conv2d", {"Input Dims": [[4, 3, 2, 2], [8, 3, 3, 3], [], [], [], [], []],
                                                      "Input type": [BF16, BF16] + [""] + ["ScalarList"] * 3 + ["Scalar"],
                                                      "Concrete Inputs": ["", "", "", "[1]", "[0]", "[1]", "1"]}),
    "stride 0": ("aten::conv2d", {"Input Dims": [[4, 3, 9, 9], [8, 3, 3, 3], [], [], [], [], []],
                                  "Input type": [BF16, BF16] + [""] + ["ScalarList"] * 3 + ["Scalar"],
                                  "Concrete Inputs": ["", "", "", "[0]", "[0]", "[1]", "1"]}),
    "causal or not": ("aten::_scaled_dot_product_flash_attention", {
        "Input Dims": [[2, 8, 9, 4]] * 3, "Input type": [BF16] * 3, "Concrete Inputs": [""] * 3}),
    "pages instead of keys": ("flash_attn_3::fwd", {
        "Input Dims": [[90, 8, 64], [10, 16, 8, 64], [10, 16, 8, 64]] + [[]] * 23, "Input type": [BF16] * 3 + [""] * 23,
        "Concrete Inputs": [""] * 24 + ["True", "-1"]}),
    "no sequences": ("aten::_flash_attention_forward", {
        "Input Dims": [[9, 8, 64]] * 3 + [[1], [1]] + [[]] * 5, "Input type": [BF16] * 3 + ["int"] * 2 + ["Scalar"] * 5,
        "Concrete Inputs": [""] * 5 + ["9", "9", "0.", "True", "False"]}),
    "size of elements": ("aten::cat", {"Input Dims": [[[5], [6]], []], "Input type": ["TensorList", "Scalar"]}),
    "no list of tensors": ("aten::cat", {"Input Dims": [[], []], "Input type": ["TensorList", "Scalar"]}),
    "how many words": ("aten::embedding_dense_backward", {"Input Dims": [[5, 30], [5]], "Input type": [BF16, LONG]}),
}


@pytest.mark.parametrize("case", LACKING)
def test_arguments_that_do_not_suffice(gputime, tmp_path, case):
    """Never a guess: the time stays, and is not modelled."""
    name, args = LACKING[case]
    trace = Operators().run(name, None, **args)
    report = trace.report(gputime, tmp_path)
    assert not report["tables"]["op_efficiency"]["rows"]
    assert {issue["id"] for issue in report["issues"]} & {"unmodelled_arguments_missing"}
    assert [row["ns"] for row in report["tables"]["waterfall"]["rows"] if row["part"] == "unmodelled"] == [100_000]


def test_arguments_are_read_alike_when_they_repeat(gputime, tmp_path):
    """Texts that were met before are not parsed again: all instances have what the first one has."""
    trace = Operators()
    cases = [(name, args) for case, (name, args) in LACKING.items() if "million" not in case]
    for name, args in cases * 40:
        trace.run(name, None, **args)
    for _ in range(40):
        trace.run("aten::mm", [t(M, K), t(K, N)])
    report = trace.report(gputime, tmp_path)
    assert [(row["count"], row["flops"]) for row in report["tables"]["op_efficiency"]["rows"]] == [(40, 40 * 2 * M * N * K)]
    lost = [row["ns"] for row in report["tables"]["waterfall"]["rows"] if row["part"] == "unmodelled"]
    assert lost == [100_000 * 40 * len(cases)]


@pytest.mark.parametrize("queries, keys", [(1, 1), (7, 3), (3, 7), (10 ** 9, 10 ** 9)])
@pytest.mark.parametrize("left", [None, 0, 2, 100])
def test_pairs(gputime, tmp_path, queries, keys, left):
    """Sums over queries are not loops over queries."""
    values = [t(1, queries, 1, 1), t(1, keys, 1, 1), t(1, keys, 1, 1), None, None, "1", "1", "0.", "True", "False", None,
              None if left is None else str(left), "0"]
    seen = pairs(queries, keys, keys - queries, left) if queries < 100 else (
        queries * (queries + 1) // 2 if left is None else queries * (left + 1) - left * (left + 1) // 2)
    row, _ = work_of(gputime, tmp_path, "aten::_flash_attention_forward", values)
    assert row["flops"] == 4 * seen


@pytest.mark.parametrize("window", [("-1", "5"), ("5", "5"), ("9223372036854775807", "9223372036854775807")], ids=str)
def test_pairs_of_the_largest_sizes(gputime, tmp_path, window):
    """2^63 - 1 keys: sums are of more bits, and what does not fit is not known."""
    most = 2 ** 63 - 1
    values = [t(1, most, 1, 1), t(1, most, 1, 1), t(1, most, 1, 1), None, None, "1", "1", "0.", "False", "False", None, *window]
    trace = Operators().run("aten::_flash_attention_forward", values)
    report = trace.report(gputime, tmp_path)
    assert not report["tables"]["op_efficiency"]["rows"]
    assert {issue["id"] for issue in report["issues"]} & {"unmodelled_arguments_missing"}
