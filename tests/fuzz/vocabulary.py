"""What the random kernels of :mod:`tests.fuzz.kernels` compute with: types of CUDA C++, and expressions of each.

``$x`` in an expression is a variable of the type with letter x, ``@x`` a number of it (``@s``: from 1 to 31). An
expression is exact, but for the leaves: these may call approximate functions, and their results go into no other
expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

#: Letter -> type of CUDA C++.
TYPES = MappingProxyType(
    {
        "c": "signed char", "C": "unsigned char", "s": "short", "S": "unsigned short", "i": "int", "u": "unsigned",
        "l": "long long", "w": "unsigned long long", "p": "bool", "f": "float", "d": "double", "h": "__half",
        "g": "__nv_bfloat16", "H": "__half2", "G": "__nv_bfloat162", "q": "wide", "Q": "uwide",
    }
)  # fmt: skip
#: Letter -> the PTX type in which results of this type are compared. A NaN may have any bits.
COMPARED = MappingProxyType(
    {"f": "f32", "d": "f64", "h": "f16", "g": "bf16", "H": "f16x2", "G": "bf16x2"} | dict.fromkeys("cCsSiulwpqQ", "b64")
)
_ROUNDINGS = ("rn", "rz", "ru", "rd")
_INTEGERS = {"int": "i", "uint": "u", "ll": "l", "ull": "w", "short": "s", "ushort": "S"}
_WIDE_NAMES = {name: letter for name, letter in _INTEGERS.items() if letter in "iulw"}
_COMPARISONS = ("eq", "ge", "gt", "le", "lt", "ne")

#: The operands of ``__vimin3_s32`` and its kind are no negatives: ptxas 12.9 and 13.0 drop the sign of one where they
#: make one instruction of two minima or maxima (``VIMNMX3``). A short is no -32768 where its sign changes: they keep
#: 32768 then.
_EXPRESSIONS = {
    "p": """$q<$q $Q>=$Q $q==$q (bool)$Q $i==@i $u<@u $l>@l $f<@f $d>=@d $i%@i==0 $i<$i $u<=$u $l>$l $w>=$w $c==$c
        $S!=$s $f<$f $d>=$d $f!=$f $h<$h __hge($g,$g) isnan($f) isinf($d) isfinite($f) signbit($i*1.0f) ($p&&$p)
        ($p||!$p) $p^$p $i&1 __hisnan($h) __heq($h,$h) __hltu($h,$h) __hneu($g,$g) __hbeq2($H,$H) __hbgtu2($H,$H) $u>$i
        $s<$u $c<$C (bool)$l (bool)$f (bool)$d __hisinf($h)!=0 __hgt($g,$g)""",
    "c": """$c+$c $c*$c -$c ~$c (tiny)$i (tiny)$C $c>>($u&7) $c<<($u&15) $c/($c|1) min($c,$c) (tiny)$f (tiny)$s
        __half2char_rz($h) $p?$c:$c __bfloat162char_rz($g)""",
    "C": """$C+$C $C*$C ~$C (byte)$u (byte)$c $C>>($u&7) $C/($C|1) $C%($c|1) max($C,$C) (byte)$d __half2uchar_rz($h)
        $C^$c __bfloat162uchar_rz($g)""",
    "s": """$s+$s $s*$s -($s|1) ~$s (short)$i (short)$u (short)$S $s>>($u&31) $s<<($u&15) $s/($s|1) $s%($c|1) abs($s|1)
        (short)$f (short)$d __half_as_short(__float2half(1.5f))^$s $c*$C $s-$C""",
    "S": """$S+$S $S*$S ~$S (ushort)$u (ushort)$s $S>>($u&15) $S/($S|1) $S%($C|1) (ushort)$f max($S,$S) $S<<($u&31)""",
    "i": """$i/@i $i%@i $i*@i $i+@i ($i>>@s)&@i (int)$q (int)$d%@i $i*@i+$i max(-128,min($i,127)) max(min($i,@i),-@i)
        min(max($i,0),255) $i<<@s>>@s ($i/@i)*@i (short)max(-32768,min(32767,$i)) $s/@i $c%@i __popc($u&@u)
        __clz($i^@i) (int)($q>>@s) ($i==@i?$i:$i/3) $i+$i $i-$i $i*$i $i&$i $i|$i $i^$i ~$i -$i $i<<($u&31)
        $i>>($u&31) $i<<$u $i>>$u $i/($i|1) $i%($i|1) min($i,$i) max($i,$i) abs($i) __mulhi($i,$i) __mul24($i,$i)
        __clz($i) __ffs($i) __popc($i) $s*$s $c-$s ($i<$i?$i:$i) ($u<$i) (int)$l (int)$w (int)$p (int)$f (int)$d
        (tiny)$i (short)$i __dp4a($i,$i,$i) __dp2a_lo($i,$i,$i) __dp2a_hi($i,$i,$i) __dp4a($u,$u,$u)
        __funnelshift_r($i,$i,$u) __funnelshift_lc($i,$i,$u) __sad($i,$i,$u) __hadd($i,$i) __rhadd($i,$i) $i*$i+$i
        ilogbf($f) ilogb($d) lrintf($f) lroundf($f) (int)lrint($d) (int)lround($d) (int)bits($f) (int)(bits($d)>>32)
        $i==-2147483647-1 __fns($u,$u&31,($i&7)-3) ($i^$i>>31)-($i>>31) $i*7/3 $i/10 $i%1000 $i/-7
        __vimax3_s32($i^@i,$i^@i,$i^@i) __vimin3_s32($i^@i,$i^@i,$i^@i) __vimax3_s32_relu($i^@i,$i^@i,$i^@i)
        __vimin3_s32_relu($i^@i,$i^@i,$i^@i) __vimax_s32_relu($i,$i) __vimin_s32_relu($i,$i) __viaddmax_s32($i,$i,$i)
        __viaddmin_s32($i,$i,$i) __viaddmax_s32_relu($i,$i,$i) __viaddmin_s32_relu($i,$i,$i) fpclass($f) fpclass($d)
        $f>$f $d<$f ($i&0xff00)>>8 ($i<<13)>>19 (int)(bits($f)>>31) __half2int_rn($h)+$c $C<<($u&7)
        (int)($l>>($u&63)) -($p) $p+$p*3 __nv_bfloat162i($g)""",
    "u": """$u/@u $u%@u $u*@u $u&@u $u^@u ($u>>@s)|($u<<@s) __byte_perm($u,$u,@u) __funnelshift_l($u,$u,@s) $S/@u $C%@u
        (unsigned)$Q ($u/@u)*@u+$u (unsigned)min(max($i,0),65535) min($u,255u) $u-$u%@u ($u&@u)==@u ($u+@u)/@u
        __umulhi($u,@u) $p?$u/@u:$u $u+$u $u-$u $u*$u $u&$u $u|$u $u^$u ~$u -$u $u<<($u&31) $u>>($u&31) $u<<$u $u>>$u
        $u/($u|1) $u%($u|1) min($u,$u) max($u,$u) __umulhi($u,$u) __umul24($u,$u) __brev($u) __byte_perm($u,$u,$u)
        (unsigned)$w (unsigned)$i (unsigned)$f (unsigned)$d (byte)$u (ushort)$u __funnelshift_l($u,$u,$u)
        __funnelshift_rc($u,$u,$u) __usad($u,$u,$u) __uhadd($u,$u) __urhadd($u,$u) __popcll($w) $u*$u+$u
        ($u>>7)+($u<<25) ($u<<7|$u>>25) ($u^$u>>16)*0x45d9f3b __dp2a_lo($u,$u,$u) $u/10 $u%7 $u/1000003 $u*0x01010101u
        $S*$S $u>>16 ($u>>5)&0x7ff ($u&~0xffu)|($u&0xff) __vimax3_u32($u,$u,$u) __vimin3_u32($u,$u,$u)
        __viaddmax_u32($u,$u,$u) __viaddmin_u32($u,$u,$u) __vimax3_s16x2($u,$u,$u) __vimin3_s16x2($u,$u,$u)
        __vimax3_u16x2($u,$u,$u) __vimin3_u16x2($u,$u,$u) __vimax3_s16x2_relu($u,$u,$u) __vimin3_s16x2_relu($u,$u,$u)
        __vimax_s16x2_relu($u,$u) __vimin_s16x2_relu($u,$u) __viaddmax_s16x2($u,$u,$u) __viaddmin_s16x2($u,$u,$u)
        __viaddmax_u16x2($u,$u,$u) __viaddmin_u16x2($u,$u,$u) __viaddmax_s16x2_relu($u,$u,$u)
        __viaddmin_s16x2_relu($u,$u,$u) fp8($f) fp8($d) fp8($h) fp8($g) fp8x2($f,$f) fp6($f) fp4($f) fp4x2($f,$f)
        fp6x2($d,$d) fp8x2h($H) e8m0($f) __heq2_mask($H,$H) __hltu2_mask($H,$H) __hgt2_mask($G,$G)
        ($u&0x55555555)+($u>>1&0x55555555) vote_free($u,$i) ($u&$u)|(~$u&$u) ($u^$u^$u) (unsigned)-$i (unsigned)$c
        (unsigned)$p<<31""",
    "l": """$l/@l $l%@l $l*@i $l>>@s (long)$q (long)($q>>64) $l&@l max(min($l,(long)@i),-(long)@i) $l/@i ($l<<@s)+$l
        $l+$l $l-$l $l*$l $l&$l $l|$l $l^$l ~$l -$l $l<<($u&63) $l>>($u&63) $l>>$u $l<<$i $l/($l|1) $l%($l|1)
        min($l,$l) max($l,$l) __mul64hi($l,$l) (long)$i*$i (long)$i (long)$f (long)$d (long)$w llabs($l) __clzll($l)
        __ffsll($l) llrintf($f) llrint($d) llroundf($f) llround($d) $l+$i $l*$u $l*$l+$l ($f>$f?$l:-$l) $l/1000 $l%10
        (long)bits($d) (long)$c<<40 (long)(tiny)$l (int)$l high($l,$l) ($l<0?-$l:$l) (long)$i*$u+$l $c*$l (long)$h
        ($l>>17)^($l<<5)""",
    "w": """$w/@u $w%@u $w*@u (word)$Q (word)($Q>>64) (word)($Q>>@s) $w%@l $w>>@s|$w<<(64-@s) $w^@l $w+$w $w-$w $w*$w
        $w&$w $w|$w $w^$w ~$w $w<<($u&63) $w>>($u&63) $w<<$u $w>>$u $w/($w|1) $w%($w|1) min($w,$w) max($w,$w)
        __umul64hi($w,$w) __brevll($w) (word)$u*$u (word)$u (word)$i (word)$f (word)$d ($w<$w?$w:$w) $w+$u
        ((word)$u<<32|$u) $w*31 $w/10 $w%1000000007 ($w<<13|$w>>51) divide128($w,$w) (word)$p<<63 $w>>32 (unsigned)$w
        (word)$C*$w $w*$i (word)$s""",
    "f": """$f*@f $f+@f $f-@f $f/@f fmaf($f,@f,$f) fmaf($f,$f,@f) $f*@f+@f fmaxf($f,@f) @f/$f ($f<@f?$f:@f) $f*@f-$f
        fminf(fmaxf($f,0.0f),255.0f) (float)(byte)fminf(fmaxf($f,0.0f),255.0f) (float)($i/@i) $f+$f $f-$f $f*$f $f/$f
        fmaf($f,$f,$f) $f*$f+$f $f*$f-$f fminf($f,$f) fmaxf($f,$f) fabsf($f) -$f truncf($f) floorf($f) ceilf($f)
        rintf($f) nearbyintf($f) roundf($f) ($f<$f?$f:$f) (float)$i (float)$u (float)$l (float)$w (float)$d (float)$h
        (float)$g (float)$c (float)$S (float)$p __fadd_rz($f,$f) __fmul_ru($f,$f) __fmaf_rd($f,$f,$f)
        __fmaf_ieee_rn($f,$f,$f) __frcp_rn($f) __fsqrt_rz($f) __fsqrt_rn($f) __fdiv_rd($f,$f) __saturatef($f)
        fdimf($f,$f) fmodf($f,$f) remainderf($f,$f) ldexpf($f,$i%40) scalbnf($f,$c) scalblnf($f,$s) logbf($f)
        frexp_of($f) modf_of($f) nextafterf($f,$f) copysignf($f,$f) remquo_of($f,$f) __low2float($H) __high2float($G)
        __uint_as_float($u&0xff7fffffu) __fsub_rd($f,$f) __fadd_ru($f,$f) $f*0.5f $f*4.0f $f+1.0f 1.0f/$f $f/3.0f
        ($f+$f)*0.25f $f*$f*0.5f fmaf($f,2.0f,$f) -($f*$f) -fmaf($f,$f,-$f) __fmul_rn($f,$f)+$f __fdividef($f,$f)
        e4m3($u) e5m2($u) e2m3($u) e2m1($u) fabsf($f)-$f fmaxf(fminf($f,1.0f),-1.0f) ($f==0.0f?$f:1.0f) frexpf_only($f)
        __frcp_rd($f) __fsqrt_ru($f) $f-$d $i*$f ($i>0?$f:-$f) fmaxf(fmaxf($f,$f),$f) fminf($f,fminf($f,-0.0f))
        (float)($l>>20) (float)$C*$f""",
    "d": """$d*@d $d+@d $d/@d fma($d,@d,$d) @d-$d*$d fmin($d,@d) (double)($l/@l) $d+$d $d-$d $d*$d $d/$d fma($d,$d,$d)
        $d*$d+$d $d*$d-$d fmin($d,$d) fmax($d,$d) fabs($d) -$d sqrt($d) trunc($d) floor($d) ceil($d) rint($d)
        nearbyint($d) round($d) ($d<$d?$d:$d) (double)$i (double)$u (double)$l (double)$w (double)$f (double)$h
        (double)$s __dadd_rz($d,$d) __dmul_rd($d,$d) __fma_ru($d,$d,$d) __drcp_rn($d) __dsqrt_rd($d) __ddiv_ru($d,$d)
        fdim($d,$d) $d*0.1 fmod($d,$d) remainder($d,$d) ldexp($d,$i%200) scalbn($d,$c) logb($d) frexp_of($d)
        modf_of($d) nextafter($d,$d) copysign($d,$d) remquo_of($d,$d) $d+$f $f*$d __hiloint2double($i&0x7fefffff,$i)
        __dsub_ru($d,$d) 1.0/$d $d*$d*0.5 -($d*$d) __ddiv_rz($d,$d) __drcp_ru($d) (double)$i*$f fmax($d,-0.0)
        (double)$p $d*$i+$l __dsqrt_rn($d)+$d""",
    "q": """$q+$q $q-$q $q*$q -$q ~$q $q&$q $q|$q $q^$q $q<<($u&127) $q>>($u&127) (wide)$l*$l (wide)$l (wide)$w
        $q/($q|1) $q%($q|1) $q/@i $q%@u $q*$i $q+$l $q-$u ($q<$q?$q:$q) (wide)$Q ($q<0?-$q:$q) (wide)$i<<@s $q>>@s
        (wide)$p-$q $p?$q:$q""",
    "Q": """$Q+$Q $Q-$Q $Q*$Q ~$Q $Q&$Q $Q|$Q $Q^$Q $Q<<($u&127) $Q>>($u&127) (uwide)$w*$w (uwide)$l $Q/($Q|1)
        $Q%($Q|1) $Q/@u $Q%@u $Q*$u ($Q>$Q?$Q:$Q) (uwide)$q ((uwide)$w<<64|$w) ($Q>>@s|$Q<<(128-@s)) $Q/($w|1)
        $Q%($w|1)""",
    "h": """$h+$h $h-$h $h*$h $h/$h __hfma($h,$h,$h) __float2half($f) __double2half($d) __hadd_sat($h,$h)
        __hmul_sat($h,$h) __hfma_sat($h,$h,$h) __hfma_relu($h,$h,$h) __hmax($h,$h) __hmin($h,$h) __hmax_nan($h,$h)
        __hmin_nan($h,$h) -$h __habs($h) hceil($h) hfloor($h) htrunc($h) hrint($h) __low2half($H) __high2half($H)
        ($h<$h?$h:$h) $h*$h+$h __hadd_rn($h,$h) __hmul_rn($h,$h)+$h __hsub_sat($h,$h) __ushort_as_half($S&0xfbff)
        __float2half_rd($f) __hneg($h) fp8_half($u) (__half)$i (__half)$p __half($C)""",
    "g": """$g+$g $g-$g $g*$g $g/$g __hfma($g,$g,$g) __float2bfloat16($f) __double2bfloat16($d) __hadd_sat($g,$g)
        __hfma_sat($g,$g,$g) __hfma_relu($g,$g,$g) __hmax($g,$g) __hmin($g,$g) __hmax_nan($g,$g) __hmin_nan($g,$g) -$g
        __habs($g) hceil($g) hfloor($g) htrunc($g) hrint($g) __low2bfloat16($G) __high2bfloat16($G) $g*$g+$g
        __hmul_rn($g,$g)-$g __hmul_sat($g,$g) __ushort_as_bfloat16($S&0xff7f) __float2bfloat16_rz($f)
        (__nv_bfloat16)$i""",
    "H": """$H+$H $H-$H $H*$H $H/$H __hfma2($H,$H,$H) __floats2half2_rn($f,$f) __halves2half2($h,$h) __hmax2($H,$H)
        __hmin2_nan($H,$H) __hmin2($H,$H) __habs2($H) -$H __lowhigh2highlow($H) __lows2half2($H,$H)
        __highs2half2($H,$H) __hadd2_sat($H,$H) __hfma2_relu($H,$H,$H) __hfma2_sat($H,$H,$H) h2floor($H) h2rint($H)
        h2trunc($H) __hgt2($H,$H) __hneu2($H,$H) __float22half2_rn(make_float2($f,$f)) __hcmadd($H,$H,$H) $H*$H+$H
        __half2half2($h) __float2half2_rn($f) e4m3_half2($u) e5m2_half2($u) __hmul2_sat($H,$H)""",
    "G": """$G+$G $G-$G $G*$G __hfma2($G,$G,$G) __floats2bfloat162_rn($f,$f) __halves2bfloat162($g,$g) __hmax2($G,$G)
        __hmin2_nan($G,$G) __habs2($G) -$G __lowhigh2highlow($G) __hadd2_sat($G,$G) __hfma2_relu($G,$G,$G) h2ceil($G)
        __hle2($G,$G) __hltu2($G,$G) $G*$G+$G __bfloat162bfloat162($g) __hmul2_sat($G,$G) __hcmadd($G,$G,$G)""",
}
#: Leaves by type. Functions of one argument; then whole expressions.
_LEAVES = {
    "f": """sinf cosf tanf asinf acosf atanf sinhf coshf tanhf asinhf acoshf atanhf expf exp2f exp10f expm1f logf log2f
        log10f log1pf erff erfcf erfinvf erfcinvf erfcxf lgammaf tgammaf cbrtf rcbrtf rsqrtf sqrtf sinpif cospif j0f j1f
        y0f y1f cyl_bessel_i0f cyl_bessel_i1f normcdff normcdfinvf __sinf __cosf __tanf __expf __exp10f __logf __log2f
        __log10f __frsqrt_rn tanh_approx
        powf($f,$f) atan2f($f,$f) hypotf($f,$f) rhypotf($f,$f) norm3df($f,$f,$f) rnorm3df($f,$f,$f) norm4df($f,$f,$f,$f)
        rnorm4df($f,$f,$f,$f) __powf($f,$f) jnf($u&3,$f) ynf($u&3,$f) powf($f,2.0f) powf($f,0.5f) powif($f,$c)
        sincos_of($f) sincospi_of($f) 1.0f/sqrtf($f) sqrtf($f)*$f powf(fabsf($f),$f)""",
    "d": """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10 log1p erf
        erfc erfinv erfcinv erfcx lgamma tgamma cbrt rcbrt rsqrt sinpi cospi j0 j1 y0 y1 cyl_bessel_i0 cyl_bessel_i1
        normcdf normcdfinv
        pow($d,$d) atan2($d,$d) hypot($d,$d) rhypot($d,$d) norm3d($d,$d,$d) norm4d($d,$d,$d,$d) pow($d,3.0) pow($d,0.25)
        pow($d,(double)$c) jn($u&3,$d) yn($u&3,$d) sincos_of($d) pow(fabs($d),$d)""",
    "h": "hsin hcos hexp hexp2 hexp10 hlog hlog2 hlog10 hsqrt hrsqrt hrcp htanh htanh_approx",
    "g": "hsin hcos hexp hexp2 hexp10 hlog hlog2 hlog10 hsqrt hrsqrt hrcp htanh htanh_approx",
    "H": "h2sin h2cos h2exp h2exp2 h2log h2log2 h2sqrt h2rsqrt h2rcp h2tanh",
    "G": "h2sin h2exp h2exp10 h2log10 h2sqrt h2rsqrt h2rcp h2tanh",
}
#: How many units in the last place of the result an approximate leaf may be off; each side may be, to either side.
ULPS = MappingProxyType({"f32": 12, "f64": 12, "f16": 2, "bf16": 2, "f16x2": 2, "bf16x2": 2})


#: Leaves that are the hardware's sine, cosine, logarithm or hyperbolic tangent: their bounds are no units in the last
#: place, or there are none.
_LOOSE = ("__sinf", "__cosf", "__tanf", "__logf", "__log2f", "__log10f", "__powf", "tanh_approx", "hsin", "hcos",
          "h2sin", "h2cos", "htanh", "h2tanh", "hlog", "h2log")  # fmt: skip
#: With -use_fast_math these are, too.
_LOOSE_WHEN_FAST = ("sin", "cos", "tan", "log", "pow")
ANY = 1 << 62


def ulps_of(template: str, kind: str, fast: bool) -> int:
    """By how many numbers a leaf of this PTX type may be off."""
    name = template.split("(")[0]
    loose = name in _LOOSE or (fast and any(part in name for part in _LOOSE_WHEN_FAST))
    return ANY if loose or name.startswith(("hlog", "h2log")) else ULPS[kind]


def _conversions() -> Iterator[tuple[str, str]]:
    """(letter of the result, expression) of the conversions with a rounding mode."""
    for mode in _ROUNDINGS:
        for name, letter in _WIDE_NAMES.items():
            yield letter, f"__float2{name}_{mode}($f)"
            yield letter, f"__double2{name}_{mode}($d)"
            yield "f", f"__{name}2float_{mode}(${letter})"
            if letter in "lw":
                yield "d", f"__{name}2double_{mode}(${letter})"
        for name, letter in _INTEGERS.items():
            yield letter, f"__half2{name}_{mode}($h)"
            yield letter, f"__bfloat162{name}_{mode}($g)"
            yield "h", f"__{name}2half_{mode}(${letter})"
            yield "g", f"__{name}2bfloat16_{mode}(${letter})"
        yield "f", f"__double2float_{mode}($d)"
        yield "h", f"__float2half_{mode}($f)"
        yield "g", f"__float2bfloat16_{mode}($f)"
        for name in ("add", "sub", "mul", "div"):
            yield "f", f"__f{name}_{mode}($f,$f)"
            yield "d", f"__d{name}_{mode}($d,$d)"
        yield "f", f"__fmaf_{mode}($f,$f,$f)"
        yield "d", f"__fma_{mode}($d,$d,$d)"
        for name in ("rcp", "sqrt"):
            yield "f", f"__f{name}_{mode}($f)"
            yield "d", f"__d{name}_{mode}($d)"


def _video() -> Iterator[str]:
    """The expressions of CUDA's SIMD intrinsics on two or four parts of a word."""
    binary = [f"{name}{sign}" for name in ("absdiff", "avg", "max", "min", "sad") for sign in "su"]
    binary += ["add", "addss", "addus", "haddu", "sub", "subss", "subus"]
    binary += [f"{name}{which}{sign}" for name in ("cmp", "set") for which in _COMPARISONS for sign in "su"]
    for parts in (2, 4):
        for name in binary:
            plain = name.rstrip("su") if name[:3] in ("cmp", "set") and name[3:5] in ("eq", "ne") else name
            yield f"__v{plain}{parts}($u,$u)"
        for name in ("abs", "absss", "neg", "negss"):
            yield f"__v{name}{parts}($u)"


def _all_expressions() -> Mapping[str, tuple[str, ...]]:
    found = {letter: list(dict.fromkeys(text.split())) for letter, text in _EXPRESSIONS.items()}
    for letter, text in _conversions():
        found[letter].append(text)
    found["u"] += dict.fromkeys(_video())
    return MappingProxyType({letter: tuple(texts) for letter, texts in found.items()})


def _all_leaves() -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(
        {
            letter: tuple(text if "$" in text else f"{text}(${letter})" for text in texts.split())
            for letter, texts in _LEAVES.items()
        }
    )


#: Letter -> exact expressions with a result of this type.
EXPRESSIONS = _all_expressions()
#: Letter -> expressions that may be approximate.
LEAVES = _all_leaves()


def is_approximate_when_fast(template: str) -> bool:
    """Whether an exact expression is approximate with ``-use_fast_math`` or ``-prec-sqrt=false``."""
    return any(word in template for word in ("remquo", "remainder", "fmod", "sqrt("))
