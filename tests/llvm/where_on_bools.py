def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.where(fd.ops.gt(x, 0.0), x, 0.0))

inputs = [torch.randn((100,))]

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
#   ; v1: f32 = const 0.0
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
#   ; v0: f32 = load b0[x0]
#   %t23 = getelementptr float, ptr %t3, i64 0
#   %t24 = getelementptr float, ptr %t23, i64 %t21
#   %t25 = load <16 x float>, ptr %t24, align 4
#   ; v2: bool = gt v0, v1
#   %t26 = fcmp ogt <16 x float> %t25, splat (float 0x0000000000000000)
#   ; v3: f32 = where v2, v0, v1
#   %t27 = select <16 x i1> %t26, <16 x float> %t25, <16 x float> splat (float 0x0000000000000000)
#   ; store b1[x0] = v3
#   %t28 = getelementptr float, ptr %t5, i64 0
#   %t29 = getelementptr float, ptr %t28, i64 %t21
#   %t30 = ptrtoint ptr %t29 to i64
#   %t31 = or i64 %t30, %t8
#   %t32 = and i64 %t31, 31
#   %t33 = icmp ne i64 %t32, 0
#   br i1 %t33, label %block7, label %block8
# block7:
#   store <16 x float> %t27, ptr %t29, align 4
#   br label %block9
# block8:
#   %t34 = bitcast <16 x float> %t27 to <16 x float>
#   %t35 = shufflevector <16 x float> %t34, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
#   %t36 = getelementptr float, ptr %t29, i64 0
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t36, <8 x float> %t35)
#   %t37 = shufflevector <16 x float> %t34, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
#   %t38 = getelementptr float, ptr %t29, i64 8
#   call void asm sideeffect "vmovntps $1, $0", "=*m,x"(ptr elementtype(<8 x float>) %t38, <8 x float> %t37)
#   br label %block9
# block9:
#   br label %block5
# block5:
#   %t22 = add nsw i64 %t21, 16
#   %t39 = icmp slt i64 %t22, %t19
#   br i1 %t39, label %block4, label %block6
# block6:
#   %t40 = icmp slt i64 %t19, %t15
#   br i1 %t40, label %block10, label %block12
# block10:
#   %t41 = phi i64 [%t19, %block6], [%t42, %block11]
#   %t43 = sub i64 %t15, %t41
#   %t44 = call i64 @llvm.smin.i64(i64 %t43, i64 8)
#   %t45 = trunc i64 %t44 to i32
#   %t46 = insertelement <8 x i32> poison, i32 %t45, i64 0
#   %t47 = shufflevector <8 x i32> %t46, <8 x i32> %t46, <8 x i32> splat (i32 0)
#   %t48 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t47
#   ; v0: f32 = load b0[x0]
#   %t49 = getelementptr float, ptr %t3, i64 0
#   %t50 = getelementptr float, ptr %t49, i64 %t41
#   %t51 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %t50, i32 4, <8 x i1> %t48, <8 x float> splat (float 0x0000000000000000))
#   ; v2: bool = gt v0, v1
#   %t52 = fcmp ogt <8 x float> %t51, splat (float 0x0000000000000000)
#   ; v3: f32 = where v2, v0, v1
#   %t53 = select <8 x i1> %t52, <8 x float> %t51, <8 x float> splat (float 0x0000000000000000)
#   ; store b1[x0] = v3
#   %t54 = getelementptr float, ptr %t5, i64 0
#   %t55 = getelementptr float, ptr %t54, i64 %t41
#   call void @llvm.masked.store.v8f32.p0(<8 x float> %t53, ptr %t55, i32 4, <8 x i1> %t48)
#   br label %block11
# block11:
#   %t42 = add nsw i64 %t41, 8
#   %t56 = icmp slt i64 %t42, %t15
#   br i1 %t56, label %block10, label %block12
# block12:
#   br label %block2
# block2:
#   %t11 = add nsw i64 %t10, 1
#   %t57 = icmp slt i64 %t11, %last_block
#   br i1 %t57, label %block1, label %block3
# block3:
#   %t58 = icmp ne i64 %non_temporal, 0
#   br i1 %t58, label %block13, label %block14
# block13:
#   call void @llvm.x86.sse.sfence()
#   br label %block14
# block14:
#   ret void
# }
# declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
# declare i64 @llvm.smax.i64(i64, i64)
# declare i64 @llvm.smin.i64(i64, i64)
# declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
# declare void @llvm.x86.sse.sfence()
