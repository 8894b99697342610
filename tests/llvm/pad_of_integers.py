# Nothing is known of where a loop with guarded loads begins: libLLVM 19 would read past the end of x in lanes that it knows
# to be off.
def f(fd):
    x = fd.define_tensor(shape=[2], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.pad(x, pad_widths=[2, 1]))

inputs = [torch.randint(0, 9, (2,))]

# ---- expect
# ; seg0
# define void @seg0(ptr %arguments, ptr %buffers, ptr %scratch, i64 %non_temporal, i64 %first_block, i64 %last_block) nounwind "target-cpu"="x86-64-v3" {
# entry:
#   br label %block0
# block0:
#   %t0 = getelementptr ptr, ptr %buffers, i64 0
#   %t1 = load ptr, ptr %t0
#   %t2 = getelementptr ptr, ptr %buffers, i64 1
#   %t3 = load ptr, ptr %t2
#   %t4 = lshr i64 %non_temporal, 0
#   %t5 = and i64 %t4, 1
#   %t6 = xor i64 %t5, 1
#   %t7 = icmp slt i64 %first_block, %last_block
#   br i1 %t7, label %block1, label %block3
# block1:
#   %t8 = phi i64 [%first_block, %block0], [%t9, %block2]
#   ; v0: i64 = const 0
#   ; for x1 in max(0, 16384*block) .. min(2, 16384*block + 16384) lanes {
#   %t10 = mul i64 %t8, 16384
#   %t11 = call i64 @llvm.smax.i64(i64 0, i64 %t10)
#   %t12 = mul i64 %t8, 16384
#   %t13 = add i64 %t12, 16384
#   %t14 = call i64 @llvm.smin.i64(i64 2, i64 %t13)
#   %t15 = sub i64 %t14, %t11
#   %t16 = call i64 @llvm.smax.i64(i64 %t15, i64 0)
#   %t17 = and i64 %t16, -16
#   %t18 = add i64 %t11, %t17
#   %t19 = icmp slt i64 %t11, %t18
#   br i1 %t19, label %block4, label %block6
# block4:
#   %t20 = phi i64 [%t11, %block1], [%t21, %block5]
#   ; store b0[x1] = v0
#   %t22 = getelementptr i64, ptr %t1, i64 0
#   %t23 = getelementptr i64, ptr %t22, i64 %t20
#   %t24 = ptrtoint ptr %t23 to i64
#   %t25 = or i64 %t24, %t6
#   %t26 = and i64 %t25, 31
#   %t27 = icmp ne i64 %t26, 0
#   br i1 %t27, label %block7, label %block8
# block7:
#   store <16 x i64> splat (i64 0), ptr %t23, align 8
#   br label %block9
# block8:
#   %t28 = bitcast <16 x i64> splat (i64 0) to <32 x float>
#   %t29 = shufflevector <32 x float> %t28, <32 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
#   %t30 = getelementptr float, ptr %t23, i64 0
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t30, <8 x float> %t29)
#   %t31 = shufflevector <32 x float> %t28, <32 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
#   %t32 = getelementptr float, ptr %t23, i64 8
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t32, <8 x float> %t31)
#   %t33 = shufflevector <32 x float> %t28, <32 x float> poison, <8 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
#   %t34 = getelementptr float, ptr %t23, i64 16
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t34, <8 x float> %t33)
#   %t35 = shufflevector <32 x float> %t28, <32 x float> poison, <8 x i32> <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
#   %t36 = getelementptr float, ptr %t23, i64 24
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t36, <8 x float> %t35)
#   br label %block9
# block9:
#   br label %block5
# block5:
#   %t21 = add nsw i64 %t20, 16
#   %t37 = icmp slt i64 %t21, %t18
#   br i1 %t37, label %block4, label %block6
# block6:
#   %t38 = icmp slt i64 %t18, %t14
#   br i1 %t38, label %block10, label %block12
# block10:
#   %t39 = phi i64 [%t18, %block6], [%t40, %block11]
#   %t41 = sub i64 %t14, %t39
#   %t42 = call i64 @llvm.smin.i64(i64 %t41, i64 8)
#   %t43 = trunc i64 %t42 to i32
#   %t44 = insertelement <8 x i32> poison, i32 %t43, i64 0
#   %t45 = shufflevector <8 x i32> %t44, <8 x i32> %t44, <8 x i32> splat (i32 0)
#   %t46 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t45
#   ; store b0[x1] = v0
#   %t47 = getelementptr i64, ptr %t1, i64 0
#   %t48 = getelementptr i64, ptr %t47, i64 %t39
#   call void @llvm.masked.store.v8i64.p0(<8 x i64> splat (i64 0), ptr %t48, i32 8, <8 x i1> %t46)
#   br label %block11
# block11:
#   %t40 = add nsw i64 %t39, 8
#   %t49 = icmp slt i64 %t40, %t14
#   br i1 %t49, label %block10, label %block12
# block12:
#   ; for x1_1 in max(2, 16384*block) .. min(4, 16384*block + 16384) lanes {
#   %t50 = mul i64 %t8, 16384
#   %t51 = call i64 @llvm.smax.i64(i64 2, i64 %t50)
#   %t52 = mul i64 %t8, 16384
#   %t53 = add i64 %t52, 16384
#   %t54 = call i64 @llvm.smin.i64(i64 4, i64 %t53)
#   %t55 = sub i64 %t54, %t51
#   %t56 = call i64 @llvm.smax.i64(i64 %t55, i64 0)
#   %t57 = and i64 %t56, -16
#   %t58 = add i64 %t51, %t57
#   %t59 = icmp slt i64 %t51, %t58
#   br i1 %t59, label %block13, label %block15
# block13:
#   %t60 = phi i64 [%t51, %block12], [%t61, %block14]
#   ; v1: i64 = load b1[x1_1 - 2]
#   %t62 = getelementptr i64, ptr %t3, i64 -2
#   %t63 = getelementptr i64, ptr %t62, i64 %t60
#   %t64 = load <16 x i64>, ptr %t63, align 8
#   ; store b0[x1_1] = v1
#   %t65 = getelementptr i64, ptr %t1, i64 0
#   %t66 = getelementptr i64, ptr %t65, i64 %t60
#   %t67 = ptrtoint ptr %t66 to i64
#   %t68 = or i64 %t67, %t6
#   %t69 = and i64 %t68, 31
#   %t70 = icmp ne i64 %t69, 0
#   br i1 %t70, label %block16, label %block17
# block16:
#   store <16 x i64> %t64, ptr %t66, align 8
#   br label %block18
# block17:
#   %t71 = bitcast <16 x i64> %t64 to <32 x float>
#   %t72 = shufflevector <32 x float> %t71, <32 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
#   %t73 = getelementptr float, ptr %t66, i64 0
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t73, <8 x float> %t72)
#   %t74 = shufflevector <32 x float> %t71, <32 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
#   %t75 = getelementptr float, ptr %t66, i64 8
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t75, <8 x float> %t74)
#   %t76 = shufflevector <32 x float> %t71, <32 x float> poison, <8 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
#   %t77 = getelementptr float, ptr %t66, i64 16
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t77, <8 x float> %t76)
#   %t78 = shufflevector <32 x float> %t71, <32 x float> poison, <8 x i32> <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
#   %t79 = getelementptr float, ptr %t66, i64 24
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t79, <8 x float> %t78)
#   br label %block18
# block18:
#   br label %block14
# block14:
#   %t61 = add nsw i64 %t60, 16
#   %t80 = icmp slt i64 %t61, %t58
#   br i1 %t80, label %block13, label %block15
# block15:
#   %t81 = icmp slt i64 %t58, %t54
#   br i1 %t81, label %block19, label %block21
# block19:
#   %t82 = phi i64 [%t58, %block15], [%t83, %block20]
#   %t84 = sub i64 %t54, %t82
#   %t85 = call i64 @llvm.smin.i64(i64 %t84, i64 8)
#   %t86 = trunc i64 %t85 to i32
#   %t87 = insertelement <8 x i32> poison, i32 %t86, i64 0
#   %t88 = shufflevector <8 x i32> %t87, <8 x i32> %t87, <8 x i32> splat (i32 0)
#   %t89 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t88
#   ; v1: i64 = load b1[x1_1 - 2]
#   %t90 = getelementptr i64, ptr %t3, i64 -2
#   %t91 = getelementptr i64, ptr %t90, i64 %t82
#   %t92 = call <8 x i64> @llvm.masked.load.v8i64.p0(ptr %t91, i32 8, <8 x i1> %t89, <8 x i64> splat (i64 0))
#   ; store b0[x1_1] = v1
#   %t93 = getelementptr i64, ptr %t1, i64 0
#   %t94 = getelementptr i64, ptr %t93, i64 %t82
#   call void @llvm.masked.store.v8i64.p0(<8 x i64> %t92, ptr %t94, i32 8, <8 x i1> %t89)
#   br label %block20
# block20:
#   %t83 = add nsw i64 %t82, 8
#   %t95 = icmp slt i64 %t83, %t54
#   br i1 %t95, label %block19, label %block21
# block21:
#   ; for x1_2 in max(4, 16384*block) .. min(5, 16384*block + 16384) lanes {
#   %t96 = mul i64 %t8, 16384
#   %t97 = call i64 @llvm.smax.i64(i64 4, i64 %t96)
#   %t98 = mul i64 %t8, 16384
#   %t99 = add i64 %t98, 16384
#   %t100 = call i64 @llvm.smin.i64(i64 5, i64 %t99)
#   %t101 = sub i64 %t100, %t97
#   %t102 = call i64 @llvm.smax.i64(i64 %t101, i64 0)
#   %t103 = and i64 %t102, -16
#   %t104 = add i64 %t97, %t103
#   %t105 = icmp slt i64 %t97, %t104
#   br i1 %t105, label %block22, label %block24
# block22:
#   %t106 = phi i64 [%t97, %block21], [%t107, %block23]
#   ; store b0[x1_2] = v0
#   %t108 = getelementptr i64, ptr %t1, i64 0
#   %t109 = getelementptr i64, ptr %t108, i64 %t106
#   %t110 = ptrtoint ptr %t109 to i64
#   %t111 = or i64 %t110, %t6
#   %t112 = and i64 %t111, 31
#   %t113 = icmp ne i64 %t112, 0
#   br i1 %t113, label %block25, label %block26
# block25:
#   store <16 x i64> splat (i64 0), ptr %t109, align 8
#   br label %block27
# block26:
#   %t114 = bitcast <16 x i64> splat (i64 0) to <32 x float>
#   %t115 = shufflevector <32 x float> %t114, <32 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
#   %t116 = getelementptr float, ptr %t109, i64 0
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t116, <8 x float> %t115)
#   %t117 = shufflevector <32 x float> %t114, <32 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
#   %t118 = getelementptr float, ptr %t109, i64 8
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t118, <8 x float> %t117)
#   %t119 = shufflevector <32 x float> %t114, <32 x float> poison, <8 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
#   %t120 = getelementptr float, ptr %t109, i64 16
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t120, <8 x float> %t119)
#   %t121 = shufflevector <32 x float> %t114, <32 x float> poison, <8 x i32> <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
#   %t122 = getelementptr float, ptr %t109, i64 24
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t122, <8 x float> %t121)
#   br label %block27
# block27:
#   br label %block23
# block23:
#   %t107 = add nsw i64 %t106, 16
#   %t123 = icmp slt i64 %t107, %t104
#   br i1 %t123, label %block22, label %block24
# block24:
#   %t124 = icmp slt i64 %t104, %t100
#   br i1 %t124, label %block28, label %block30
# block28:
#   %t125 = phi i64 [%t104, %block24], [%t126, %block29]
#   %t127 = sub i64 %t100, %t125
#   %t128 = call i64 @llvm.smin.i64(i64 %t127, i64 8)
#   %t129 = trunc i64 %t128 to i32
#   %t130 = insertelement <8 x i32> poison, i32 %t129, i64 0
#   %t131 = shufflevector <8 x i32> %t130, <8 x i32> %t130, <8 x i32> splat (i32 0)
#   %t132 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t131
#   ; store b0[x1_2] = v0
#   %t133 = getelementptr i64, ptr %t1, i64 0
#   %t134 = getelementptr i64, ptr %t133, i64 %t125
#   call void @llvm.masked.store.v8i64.p0(<8 x i64> splat (i64 0), ptr %t134, i32 8, <8 x i1> %t132)
#   br label %block29
# block29:
#   %t126 = add nsw i64 %t125, 8
#   %t135 = icmp slt i64 %t126, %t100
#   br i1 %t135, label %block28, label %block30
# block30:
#   br label %block2
# block2:
#   %t9 = add nsw i64 %t8, 1
#   %t136 = icmp slt i64 %t9, %last_block
#   br i1 %t136, label %block1, label %block3
# block3:
#   %t137 = icmp ne i64 %non_temporal, 0
#   br i1 %t137, label %block31, label %block32
# block31:
#   call void @llvm.x86.sse.sfence()
#   br label %block32
# block32:
#   ret void
# }
# declare <8 x i64> @llvm.masked.load.v8i64.p0(ptr, i32, <8 x i1>, <8 x i64>)
# declare i64 @llvm.smax.i64(i64, i64)
# declare i64 @llvm.smin.i64(i64, i64)
# declare void @llvm.masked.store.v8i64.p0(<8 x i64>, ptr, i32, <8 x i1>)
# declare void @llvm.x86.sse.sfence()
