# test: target=x86-64
def scale(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.mul(x, 2.0))

inputs = [torch.randn((1000,))]

# ---- expect
# ; seg0
# define void @seg0(ptr %arguments, ptr %buffers, ptr %scratch, i64 %streamed, i64 %first_block, i64 %last_block) nounwind "target-cpu"="x86-64" {
# entry:
#   br label %block0
# block0:
#   %t0 = getelementptr i64, ptr %arguments, i64 0
#   %t1 = load i64, ptr %t0
#   %t2 = getelementptr ptr, ptr %buffers, i64 0
#   %t3 = load ptr, ptr %t2
#   %t4 = getelementptr ptr, ptr %buffers, i64 1
#   %t5 = load ptr, ptr %t4
#   %t6 = lshr i64 %streamed, 1
#   %t7 = and i64 %t6, 1
#   %t8 = xor i64 %t7, 1
#   %t9 = icmp slt i64 %first_block, %last_block
#   br i1 %t9, label %block1, label %block3
# block1:
#   %t10 = phi i64 [%first_block, %block0], [%t11, %block2]
#   ; v1: f32 = const 2.0
#   ; for x0 in 16384*block .. min(i0, 16384*block + 16384) lanes {
#   %t12 = mul i64 %t10, 16384
#   %t13 = mul i64 %t10, 16384
#   %t14 = add i64 %t13, 16384
#   %t15 = call i64 @llvm.smin.i64(i64 %t1, i64 %t14)
#   %t16 = sub i64 %t15, %t12
#   %t17 = call i64 @llvm.smax.i64(i64 %t16, i64 0)
#   %t18 = and i64 %t17, -8
#   %t19 = add i64 %t12, %t18
#   %t20 = icmp slt i64 %t12, %t19
#   br i1 %t20, label %block4, label %block6
# block4:
#   %t21 = phi i64 [%t12, %block1], [%t22, %block5]
#   ; v0: f32 = load b0[x0]
#   %t23 = getelementptr float, ptr %t3, i64 0
#   %t24 = getelementptr float, ptr %t23, i64 %t21
#   %t25 = load <8 x float>, ptr %t24, align 4
#   ; v2: f32 = mul v0, v1
#   %t26 = fmul <8 x float> %t25, splat (float 0x4000000000000000)
#   ; store b1[x0] = v2
#   %t27 = getelementptr float, ptr %t5, i64 0
#   %t28 = getelementptr float, ptr %t27, i64 %t21
#   %t29 = ptrtoint ptr %t28 to i64
#   %t30 = or i64 %t29, %t8
#   %t31 = and i64 %t30, 15
#   %t32 = icmp ne i64 %t31, 0
#   br i1 %t32, label %block7, label %block8
# block7:
#   store <8 x float> %t26, ptr %t28, align 4
#   br label %block9
# block8:
#   %t33 = bitcast <8 x float> %t26 to <8 x float>
#   %t34 = shufflevector <8 x float> %t33, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
#   %t35 = getelementptr float, ptr %t28, i64 0
#   call void asm sideeffect "movntps $1, $0", "=*m,x"(ptr elementtype(<4 x float>) %t35, <4 x float> %t34)
#   %t36 = shufflevector <8 x float> %t33, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
#   %t37 = getelementptr float, ptr %t28, i64 4
#   call void asm sideeffect "movntps $1, $0", "=*m,x"(ptr elementtype(<4 x float>) %t37, <4 x float> %t36)
#   br label %block9
# block9:
#   br label %block5
# block5:
#   %t22 = add nsw i64 %t21, 8
#   %t38 = icmp slt i64 %t22, %t19
#   br i1 %t38, label %block4, label %block6
# block6:
#   %t39 = icmp slt i64 %t19, %t15
#   br i1 %t39, label %block10, label %block11
# block10:
#   %t40 = sub i64 %t15, %t19
#   %t41 = trunc i64 %t40 to i32
#   %t42 = insertelement <8 x i32> poison, i32 %t41, i64 0
#   %t43 = shufflevector <8 x i32> %t42, <8 x i32> %t42, <8 x i32> splat (i32 0)
#   %t44 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t43
#   ; v0: f32 = load b0[x0]
#   %t45 = getelementptr float, ptr %t3, i64 0
#   %t46 = getelementptr float, ptr %t45, i64 %t19
#   %t47 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %t46, i32 4, <8 x i1> %t44, <8 x float> splat (float 0x0000000000000000))
#   ; v2: f32 = mul v0, v1
#   %t48 = fmul <8 x float> %t47, splat (float 0x4000000000000000)
#   ; store b1[x0] = v2
#   %t49 = getelementptr float, ptr %t5, i64 0
#   %t50 = getelementptr float, ptr %t49, i64 %t19
#   call void @llvm.masked.store.v8f32.p0(<8 x float> %t48, ptr %t50, i32 4, <8 x i1> %t44)
#   br label %block11
# block11:
#   br label %block2
# block2:
#   %t11 = add nsw i64 %t10, 1
#   %t51 = icmp slt i64 %t11, %last_block
#   br i1 %t51, label %block1, label %block3
# block3:
#   %t52 = icmp ne i64 %streamed, 0
#   br i1 %t52, label %block12, label %block13
# block12:
#   call void @llvm.x86.sse.sfence()
#   br label %block13
# block13:
#   ret void
# }
# declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
# declare i64 @llvm.smax.i64(i64, i64)
# declare i64 @llvm.smin.i64(i64, i64)
# declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
# declare void @llvm.x86.sse.sfence()
