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
#   %t17 = and i64 %t16, -8
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
#   store <8 x i64> splat (i64 0), ptr %t23, align 8
#   br label %block9
# block8:
#   %t28 = bitcast <8 x i64> splat (i64 0) to <16 x float>
#   %t29 = shufflevector <16 x float> %t28, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
#   %t30 = getelementptr float, ptr %t23, i64 0
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t30, <8 x float> %t29)
#   %t31 = shufflevector <16 x float> %t28, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
#   %t32 = getelementptr float, ptr %t23, i64 8
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t32, <8 x float> %t31)
#   br label %block9
# block9:
#   br label %block5
# block5:
#   %t21 = add nsw i64 %t20, 8
#   %t33 = icmp slt i64 %t21, %t18
#   br i1 %t33, label %block4, label %block6
# block6:
#   %t34 = icmp slt i64 %t18, %t14
#   br i1 %t34, label %block10, label %block12
# block10:
#   %t35 = phi i64 [%t18, %block6], [%t36, %block11]
#   %t37 = sub i64 %t14, %t35
#   %t38 = call i64 @llvm.smin.i64(i64 %t37, i64 8)
#   %t39 = trunc i64 %t38 to i32
#   %t40 = insertelement <8 x i32> poison, i32 %t39, i64 0
#   %t41 = shufflevector <8 x i32> %t40, <8 x i32> %t40, <8 x i32> splat (i32 0)
#   %t42 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t41
#   ; store b0[x1] = v0
#   %t43 = getelementptr i64, ptr %t1, i64 0
#   %t44 = getelementptr i64, ptr %t43, i64 %t35
#   call void @llvm.masked.store.v8i64.p0(<8 x i64> splat (i64 0), ptr %t44, i32 8, <8 x i1> %t42)
#   br label %block11
# block11:
#   %t36 = add nsw i64 %t35, 8
#   %t45 = icmp slt i64 %t36, %t14
#   br i1 %t45, label %block10, label %block12
# block12:
#   ; for x1_1 in max(2, 16384*block) .. min(4, 16384*block + 16384) lanes {
#   %t46 = mul i64 %t8, 16384
#   %t47 = call i64 @llvm.smax.i64(i64 2, i64 %t46)
#   %t48 = mul i64 %t8, 16384
#   %t49 = add i64 %t48, 16384
#   %t50 = call i64 @llvm.smin.i64(i64 4, i64 %t49)
#   %t51 = sub i64 %t50, %t47
#   %t52 = call i64 @llvm.smax.i64(i64 %t51, i64 0)
#   %t53 = and i64 %t52, -8
#   %t54 = add i64 %t47, %t53
#   %t55 = icmp slt i64 %t47, %t54
#   br i1 %t55, label %block13, label %block15
# block13:
#   %t56 = phi i64 [%t47, %block12], [%t57, %block14]
#   ; v1: i64 = load b1[x1_1 - 2]
#   %t58 = getelementptr i64, ptr %t3, i64 -2
#   %t59 = getelementptr i64, ptr %t58, i64 %t56
#   %t60 = load <8 x i64>, ptr %t59, align 8
#   ; store b0[x1_1] = v1
#   %t61 = getelementptr i64, ptr %t1, i64 0
#   %t62 = getelementptr i64, ptr %t61, i64 %t56
#   %t63 = ptrtoint ptr %t62 to i64
#   %t64 = or i64 %t63, %t6
#   %t65 = and i64 %t64, 31
#   %t66 = icmp ne i64 %t65, 0
#   br i1 %t66, label %block16, label %block17
# block16:
#   store <8 x i64> %t60, ptr %t62, align 8
#   br label %block18
# block17:
#   %t67 = bitcast <8 x i64> %t60 to <16 x float>
#   %t68 = shufflevector <16 x float> %t67, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
#   %t69 = getelementptr float, ptr %t62, i64 0
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t69, <8 x float> %t68)
#   %t70 = shufflevector <16 x float> %t67, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
#   %t71 = getelementptr float, ptr %t62, i64 8
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t71, <8 x float> %t70)
#   br label %block18
# block18:
#   br label %block14
# block14:
#   %t57 = add nsw i64 %t56, 8
#   %t72 = icmp slt i64 %t57, %t54
#   br i1 %t72, label %block13, label %block15
# block15:
#   %t73 = icmp slt i64 %t54, %t50
#   br i1 %t73, label %block19, label %block21
# block19:
#   %t74 = phi i64 [%t54, %block15], [%t75, %block20]
#   %t76 = sub i64 %t50, %t74
#   %t77 = call i64 @llvm.smin.i64(i64 %t76, i64 8)
#   %t78 = trunc i64 %t77 to i32
#   %t79 = insertelement <8 x i32> poison, i32 %t78, i64 0
#   %t80 = shufflevector <8 x i32> %t79, <8 x i32> %t79, <8 x i32> splat (i32 0)
#   %t81 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t80
#   ; v1: i64 = load b1[x1_1 - 2]
#   %t82 = getelementptr i64, ptr %t3, i64 -2
#   %t83 = getelementptr i64, ptr %t82, i64 %t74
#   %t84 = call <8 x i64> @llvm.masked.load.v8i64.p0(ptr %t83, i32 8, <8 x i1> %t81, <8 x i64> splat (i64 0))
#   ; store b0[x1_1] = v1
#   %t85 = getelementptr i64, ptr %t1, i64 0
#   %t86 = getelementptr i64, ptr %t85, i64 %t74
#   call void @llvm.masked.store.v8i64.p0(<8 x i64> %t84, ptr %t86, i32 8, <8 x i1> %t81)
#   br label %block20
# block20:
#   %t75 = add nsw i64 %t74, 8
#   %t87 = icmp slt i64 %t75, %t50
#   br i1 %t87, label %block19, label %block21
# block21:
#   ; for x1_2 in max(4, 16384*block) .. min(5, 16384*block + 16384) lanes {
#   %t88 = mul i64 %t8, 16384
#   %t89 = call i64 @llvm.smax.i64(i64 4, i64 %t88)
#   %t90 = mul i64 %t8, 16384
#   %t91 = add i64 %t90, 16384
#   %t92 = call i64 @llvm.smin.i64(i64 5, i64 %t91)
#   %t93 = sub i64 %t92, %t89
#   %t94 = call i64 @llvm.smax.i64(i64 %t93, i64 0)
#   %t95 = and i64 %t94, -8
#   %t96 = add i64 %t89, %t95
#   %t97 = icmp slt i64 %t89, %t96
#   br i1 %t97, label %block22, label %block24
# block22:
#   %t98 = phi i64 [%t89, %block21], [%t99, %block23]
#   ; store b0[x1_2] = v0
#   %t100 = getelementptr i64, ptr %t1, i64 0
#   %t101 = getelementptr i64, ptr %t100, i64 %t98
#   %t102 = ptrtoint ptr %t101 to i64
#   %t103 = or i64 %t102, %t6
#   %t104 = and i64 %t103, 31
#   %t105 = icmp ne i64 %t104, 0
#   br i1 %t105, label %block25, label %block26
# block25:
#   store <8 x i64> splat (i64 0), ptr %t101, align 8
#   br label %block27
# block26:
#   %t106 = bitcast <8 x i64> splat (i64 0) to <16 x float>
#   %t107 = shufflevector <16 x float> %t106, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
#   %t108 = getelementptr float, ptr %t101, i64 0
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t108, <8 x float> %t107)
#   %t109 = shufflevector <16 x float> %t106, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
#   %t110 = getelementptr float, ptr %t101, i64 8
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t110, <8 x float> %t109)
#   br label %block27
# block27:
#   br label %block23
# block23:
#   %t99 = add nsw i64 %t98, 8
#   %t111 = icmp slt i64 %t99, %t96
#   br i1 %t111, label %block22, label %block24
# block24:
#   %t112 = icmp slt i64 %t96, %t92
#   br i1 %t112, label %block28, label %block30
# block28:
#   %t113 = phi i64 [%t96, %block24], [%t114, %block29]
#   %t115 = sub i64 %t92, %t113
#   %t116 = call i64 @llvm.smin.i64(i64 %t115, i64 8)
#   %t117 = trunc i64 %t116 to i32
#   %t118 = insertelement <8 x i32> poison, i32 %t117, i64 0
#   %t119 = shufflevector <8 x i32> %t118, <8 x i32> %t118, <8 x i32> splat (i32 0)
#   %t120 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t119
#   ; store b0[x1_2] = v0
#   %t121 = getelementptr i64, ptr %t1, i64 0
#   %t122 = getelementptr i64, ptr %t121, i64 %t113
#   call void @llvm.masked.store.v8i64.p0(<8 x i64> splat (i64 0), ptr %t122, i32 8, <8 x i1> %t120)
#   br label %block29
# block29:
#   %t114 = add nsw i64 %t113, 8
#   %t123 = icmp slt i64 %t114, %t92
#   br i1 %t123, label %block28, label %block30
# block30:
#   br label %block2
# block2:
#   %t9 = add nsw i64 %t8, 1
#   %t124 = icmp slt i64 %t9, %last_block
#   br i1 %t124, label %block1, label %block3
# block3:
#   %t125 = icmp ne i64 %non_temporal, 0
#   br i1 %t125, label %block31, label %block32
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
