def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.add(x, 3))

inputs = [torch.randint(0, 9, (100,))]

# ---- expect
# ; seg0
# define void @seg0(ptr %arguments, ptr %buffers, ptr %scratch, i64 %non_temporal, i64 %first_block, i64 %last_block) nounwind "target-cpu"="x86-64-v3" {
# entry:
#   br label %block0
# block0:
#   %t0 = getelementptr i64, ptr %arguments, i64 0
#   %t1 = load i64, ptr %t0
#   %t2 = getelementptr ptr, ptr %buffers, i64 0
#   %t3 = load ptr, ptr %t2
#   %t4 = getelementptr ptr, ptr %buffers, i64 1
#   %t5 = load ptr, ptr %t4
#   %t6 = lshr i64 %non_temporal, 1
#   %t7 = and i64 %t6, 1
#   %t8 = xor i64 %t7, 1
#   %t9 = icmp slt i64 %first_block, %last_block
#   br i1 %t9, label %block1, label %block3
# block1:
#   %t10 = phi i64 [%first_block, %block0], [%t11, %block2]
#   ; v1: i64 = const 3
#   ; for x0 in 16384*block .. min(i0, 16384*block + 16384) lanes {
#   %t12 = mul i64 %t10, 16384
#   %t13 = mul i64 %t10, 16384
#   %t14 = add i64 %t13, 16384
#   %t15 = call i64 @llvm.smin.i64(i64 %t1, i64 %t14)
#   %t16 = sub i64 %t15, %t12
#   %t17 = call i64 @llvm.smax.i64(i64 %t16, i64 0)
#   %t18 = and i64 %t17, -16
#   %t19 = add i64 %t12, %t18
#   %t20 = icmp slt i64 %t12, %t19
#   br i1 %t20, label %block4, label %block6
# block4:
#   %t21 = phi i64 [%t12, %block1], [%t22, %block5]
#   ; v0: i64 = load b0[x0]
#   %t23 = getelementptr i64, ptr %t3, i64 0
#   %t24 = getelementptr i64, ptr %t23, i64 %t21
#   %t25 = load <16 x i64>, ptr %t24, align 8
#   ; v2: i64 = add v0, v1
#   %t26 = add <16 x i64> %t25, splat (i64 3)
#   ; store b1[x0] = v2
#   %t27 = getelementptr i64, ptr %t5, i64 0
#   %t28 = getelementptr i64, ptr %t27, i64 %t21
#   %t29 = ptrtoint ptr %t28 to i64
#   %t30 = or i64 %t29, %t8
#   %t31 = and i64 %t30, 31
#   %t32 = icmp ne i64 %t31, 0
#   br i1 %t32, label %block7, label %block8
# block7:
#   store <16 x i64> %t26, ptr %t28, align 8
#   br label %block9
# block8:
#   %t33 = bitcast <16 x i64> %t26 to <32 x float>
#   %t34 = shufflevector <32 x float> %t33, <32 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
#   %t35 = getelementptr float, ptr %t28, i64 0
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t35, <8 x float> %t34)
#   %t36 = shufflevector <32 x float> %t33, <32 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
#   %t37 = getelementptr float, ptr %t28, i64 8
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t37, <8 x float> %t36)
#   %t38 = shufflevector <32 x float> %t33, <32 x float> poison, <8 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
#   %t39 = getelementptr float, ptr %t28, i64 16
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t39, <8 x float> %t38)
#   %t40 = shufflevector <32 x float> %t33, <32 x float> poison, <8 x i32> <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
#   %t41 = getelementptr float, ptr %t28, i64 24
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t41, <8 x float> %t40)
#   br label %block9
# block9:
#   br label %block5
# block5:
#   %t22 = add nsw i64 %t21, 16
#   %t42 = icmp slt i64 %t22, %t19
#   br i1 %t42, label %block4, label %block6
# block6:
#   %t43 = icmp slt i64 %t19, %t15
#   br i1 %t43, label %block10, label %block12
# block10:
#   %t44 = phi i64 [%t19, %block6], [%t45, %block11]
#   %t46 = sub i64 %t15, %t44
#   %t47 = call i64 @llvm.smin.i64(i64 %t46, i64 8)
#   %t48 = trunc i64 %t47 to i32
#   %t49 = insertelement <8 x i32> poison, i32 %t48, i64 0
#   %t50 = shufflevector <8 x i32> %t49, <8 x i32> %t49, <8 x i32> splat (i32 0)
#   %t51 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t50
#   ; v0: i64 = load b0[x0]
#   %t52 = getelementptr i64, ptr %t3, i64 0
#   %t53 = getelementptr i64, ptr %t52, i64 %t44
#   %t54 = call <8 x i64> @llvm.masked.load.v8i64.p0(ptr %t53, i32 8, <8 x i1> %t51, <8 x i64> splat (i64 0))
#   ; v2: i64 = add v0, v1
#   %t55 = add <8 x i64> %t54, splat (i64 3)
#   ; store b1[x0] = v2
#   %t56 = getelementptr i64, ptr %t5, i64 0
#   %t57 = getelementptr i64, ptr %t56, i64 %t44
#   call void @llvm.masked.store.v8i64.p0(<8 x i64> %t55, ptr %t57, i32 8, <8 x i1> %t51)
#   br label %block11
# block11:
#   %t45 = add nsw i64 %t44, 8
#   %t58 = icmp slt i64 %t45, %t15
#   br i1 %t58, label %block10, label %block12
# block12:
#   br label %block2
# block2:
#   %t11 = add nsw i64 %t10, 1
#   %t59 = icmp slt i64 %t11, %last_block
#   br i1 %t59, label %block1, label %block3
# block3:
#   %t60 = icmp ne i64 %non_temporal, 0
#   br i1 %t60, label %block13, label %block14
# block13:
#   call void @llvm.x86.sse.sfence()
#   br label %block14
# block14:
#   ret void
# }
# declare <8 x i64> @llvm.masked.load.v8i64.p0(ptr, i32, <8 x i1>, <8 x i64>)
# declare i64 @llvm.smax.i64(i64, i64)
# declare i64 @llvm.smin.i64(i64, i64)
# declare void @llvm.masked.store.v8i64.p0(<8 x i64>, ptr, i32, <8 x i1>)
# declare void @llvm.x86.sse.sfence()
