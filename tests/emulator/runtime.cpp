/* SPDX-License-Identifier: MIT */
/* The part of the CUDA runtime that gp and its tests use. */
#include "emulator.h"

#include <cstdlib>
#include <cuda.h>
#include <map>
#include <mutex>

namespace emulator
{

/* ---- streams and graphs ---------------------------------------------------------------------- */

struct Node {
    const void *kernel;
    std::function<void()> run;
};
using Nodes = std::vector<std::shared_ptr<Node>>;

struct Stream {
    bool captured = false;
    Nodes nodes;
};

static std::recursive_mutex device; /* one grid at a time */
static std::map<const void *, Caller> &callers = *new std::map<const void *, Caller>;
static Stream default_stream;
static thread_local cudaError_t last_error;

static cudaError_t error(cudaError_t e)
{
    if (e != cudaSuccess)
        last_error = e;
    return e;
}

static Stream &stream_of(cudaStream_t s)
{
    return s > (cudaStream_t)2 ? *(Stream *)s : default_stream;
}

static cudaError_t queue(cudaStream_t s, const void *kernel, std::function<void()> run)
{
    if (stream_of(s).captured) {
        stream_of(s).nodes.push_back(std::make_shared<Node>(Node{kernel, std::move(run)}));
        return cudaSuccess;
    }
    run();
    return cudaSuccess;
}

void remember(const void *kernel, Caller caller)
{
    std::lock_guard<std::recursive_mutex> l(device);
    callers[kernel] = caller;
}

cudaError_t launch(const Shape &shape, cudaStream_t stream, std::function<void()> thread)
{
    if (shape.grid == 0 || shape.threads == 0 || shape.threads > THREADS_MAX ||
        shape.bytes > SHARED)
        return error(cudaErrorInvalidConfiguration);
    return queue(stream, nullptr, [=] {
        std::lock_guard<std::recursive_mutex> l(device);
        run_grid(shape, thread);
    });
}

/* ---- memory ---------------------------------------------------------------------------------- */

static std::mutex memory_lock;
static std::map<const char *, std::pair<size_t, cudaMemoryType>> &memory =
    *new std::map<const char *, std::pair<size_t, cudaMemoryType>>;

static cudaError_t allocate(void **p, size_t bytes, cudaMemoryType type)
{
    const size_t round = (std::max<size_t>(bytes, 1) + 511) / 512 * 512;
    *p = bytes > (size_t)8 << 30 ? nullptr : aligned_alloc(512, round);
    if (!*p)
        return error(cudaErrorMemoryAllocation);
    memset(*p, 0x5a, round);
    std::lock_guard<std::mutex> l(memory_lock);
    memory[(const char *)*p] = {round, type};
    return cudaSuccess;
}

static cudaError_t release(void *p)
{
    if (!p)
        return cudaSuccess;
    {
        std::lock_guard<std::mutex> l(memory_lock);
        if (!memory.erase((const char *)p))
            return error(cudaErrorInvalidValue);
    }
    free(p);
    return cudaSuccess;
}

static cudaMemoryType type_of(const void *p)
{
    std::lock_guard<std::mutex> l(memory_lock);
    auto after = memory.upper_bound((const char *)p);
    if (after == memory.begin())
        return cudaMemoryTypeUnregistered;
    --after;
    return (const char *)p < after->first + after->second.first ? after->second.second
                                                                : cudaMemoryTypeUnregistered;
}

static CUresult pointer_attributes(unsigned count, CUpointer_attribute *wanted, void **values,
                                   CUdeviceptr p)
{
    const cudaMemoryType type = type_of((const void *)p);
    for (unsigned i = 0; i < count; i++)
        *(unsigned *)values[i] = wanted[i] != CU_POINTER_ATTRIBUTE_MEMORY_TYPE ? 0
                                 : type == cudaMemoryTypeDevice ? CU_MEMORYTYPE_DEVICE
                                 : type == cudaMemoryTypeHost   ? CU_MEMORYTYPE_HOST
                                                                : 0;
    return CUDA_SUCCESS;
}

} // namespace emulator

using namespace emulator;

/* ---- the runtime ----------------------------------------------------------------------------- */

extern "C" {

cudaError_t cudaGetLastError(void)
{
    const cudaError_t e = last_error;
    last_error = cudaSuccess;
    return e;
}
cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}
const char *cudaGetErrorString(cudaError_t e)
{
    return e == cudaSuccess ? "no error" : "an error of the emulator";
}
const char *cudaGetErrorName(cudaError_t e)
{
    return e == cudaSuccess ? "cudaSuccess" : "cudaErrorEmulated";
}
cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *d)
{
    *d = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int d)
{
    return d == 0 ? cudaSuccess : error(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrComputeCapabilityMajor         ? GPI_SM / 10
             : attribute == cudaDevAttrComputeCapabilityMinor       ? GPI_SM % 10
             : attribute == cudaDevAttrMultiProcessorCount          ? 3
             : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? SHARED
                                                                    : 0;
    return cudaSuccess;
}
#undef cudaGetDeviceProperties
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int)
{
    memset(p, 0, sizeof *p);
    strcpy(p->name, "emulator");
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *v)
{
    *v = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *v)
{
    *v = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned,
                                             unsigned long long,
                                             enum cudaDriverEntryPointQueryResult *result)
{
    *f = strcmp(name, "cuPointerGetAttributes") ? nullptr : (void *)pointer_attributes;
    *result = *f ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
    *can = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned)
{
    return error(cudaErrorPeerAccessUnsupported);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *, int)
{
    return error(cudaErrorNotSupported);
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const struct cudaMemAccessDesc *, size_t)
{
    return error(cudaErrorNotSupported);
}
cudaError_t cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    return allocate(p, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t)
{
    return allocate(p, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    return allocate(p, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaFree(void *p)
{
    return release(p);
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t)
{
    return release(p);
}
cudaError_t cudaFreeHost(void *p)
{
    return release(p);
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    memset(a, 0, sizeof *a);
    a->type = type_of(p);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t s)
{
    return queue(s, nullptr, [=] { memset(p, byte, bytes); });
}
cudaError_t cudaMemset(void *p, int byte, size_t bytes)
{
    memset(p, byte, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind,
                            cudaStream_t s)
{
    return queue(s, nullptr, [=] { memmove(to, from, bytes); });
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind)
{
    memcpy(to, (const char *)symbol + offset, bytes);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
    *s = (cudaStream_t) new Stream;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    delete (Stream *)s;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    return stream_of(s).captured ? error(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s)
{
    return cudaStreamSynchronize(s);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned)
{
    *e = (cudaEvent_t)1;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t)
{
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t)
{
    return cudaSuccess;
}

/* Handles are addresses: all processes are this one. */
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *p)
{
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &p, sizeof p);
    return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void **p, cudaIpcMemHandle_t handle, unsigned)
{
    memcpy(p, &handle, sizeof *p);
    return cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void *)
{
    return cudaSuccess;
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t)
{
    memset(handle, 0, sizeof *handle);
    return cudaSuccess;
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *e, cudaIpcEventHandle_t)
{
    return cudaEventCreateWithFlags(e, 0);
}
cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int)
{
    snprintf(id, (size_t)bytes, "emulated");
    return cudaSuccess;
}
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute, int)
{
    return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *kernel, void **arguments)
{
    Shape shape = {c->gridDim.x, c->blockDim.x, 0, c->dynamicSmemBytes, false};
    for (unsigned i = 0; i < c->numAttrs; i++) {
        if (c->attrs[i].id == cudaLaunchAttributeCooperative)
            shape.cooperative = c->attrs[i].val.cooperative;
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            shape.cluster = c->attrs[i].val.clusterDim.x;
    }
    const auto found = callers.find(kernel);
    if (found == callers.end())
        return error(cudaErrorInvalidDeviceFunction);
    return launch(shape, c->stream, found->second(kernel, arguments));
}

/* Graphs are what a stream recorded; made node by node they are refused, which gp answers with
 * launches one by one. */
cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode)
{
    if (stream_of(s).captured)
        return error(cudaErrorIllegalState);
    stream_of(s).captured = true;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph)
{
    stream_of(s).captured = false;
    *graph = (cudaGraph_t) new Nodes(std::move(stream_of(s).nodes));
    stream_of(s).nodes.clear();
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status)
{
    *status = stream_of(s).captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = (cudaGraphExec_t) new Nodes(*(Nodes *)graph);
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s)
{
    for (auto &node : *(Nodes *)exec)
        queue(s, node->kernel, node->run);
    return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *, size_t *count)
{
    *count = ((Nodes *)graph)->size();
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete (Nodes *)graph;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete (Nodes *)exec;
    return cudaSuccess;
}
#define REFUSED(name)                                                                              \
    cudaError_t name                                                                               \
    {                                                                                              \
        return error(cudaErrorNotSupported);                                                       \
    }
REFUSED(cudaGraphCreate(cudaGraph_t *, unsigned))
REFUSED(cudaGraphAddKernelNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
                               const struct cudaKernelNodeParams *))
REFUSED(cudaGraphAddMemsetNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
                               const struct cudaMemsetParams *))
REFUSED(cudaGraphAddNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *,
                         const cudaGraphEdgeData *, size_t, struct cudaGraphNodeParams *))
REFUSED(cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *,
                                 const cudaGraphEdgeData *, size_t))
REFUSED(cudaGraphKernelNodeSetAttribute(cudaGraphNode_t, cudaLaunchAttributeID,
                                        const cudaLaunchAttributeValue *))
REFUSED(cudaGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t,
                                         const struct cudaKernelNodeParams *))
REFUSED(cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t, cudaGraphNode_t,
                                         const struct cudaMemsetParams *))
REFUSED(cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *, cudaGraph_t, unsigned,
                                         unsigned))
REFUSED(cudaStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t, const cudaGraphNode_t *,
                                      const cudaGraphEdgeData *, size_t,
                                      enum cudaStreamCaptureMode))
REFUSED(cudaStreamGetCaptureInfo(cudaStream_t, enum cudaStreamCaptureStatus *, unsigned long long *,
                                 cudaGraph_t *, const cudaGraphNode_t **,
                                 const cudaGraphEdgeData **, size_t *))
REFUSED(cudaStreamUpdateCaptureDependencies(cudaStream_t, cudaGraphNode_t *,
                                            const cudaGraphEdgeData *, size_t, unsigned))
}
