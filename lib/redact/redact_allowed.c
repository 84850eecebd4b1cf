/* The allow-list of redaction: a name of a table, column or fact comes in, whether and how it is kept goes out. */
#include "redact/redact_allowed.h"

#include <stdio.h>
#include <strings.h>

#include "decode/nsys/nsys.h"

#define ACTIVITY  "start end deviceId contextId greenContextId streamId correlationId eventClass "
#define GLOBAL_ID [GT_REDACT_GLOBAL_ID] = "globalPid globalTid"
#define PID       [GT_REDACT_PID] = "pid processId tid threadId"

/* Literals that are side by side are one list. NOLINTBEGIN(bugprone-suspicious-missing-comma) */
static const struct gt_redact_table tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL CUDA_GPU_KERNEL GPU_KERNEL",
     {GLOBAL_ID, PID,
      [GT_REDACT_NUMBER] = ACTIVITY
      "launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory "
      "dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted graphNodeId graphId "
      "sharedMemoryLimitConfig clusterX clusterY clusterZ clusterSchedulingPolicy maxPotentialClusterSize "
      "maxActiveClusters sharedMemoryRequestedPercentage",
      [GT_REDACT_KERNEL] = "demangledName shortName mangledName name"}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY CUDA_GPU_MEMCPY GPU_MEMCPY",
     {GLOBAL_ID, PID,
      [GT_REDACT_NUMBER] =
          ACTIVITY "bytes copyKind deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId "
                   "migrationCause graphNodeId copyCount"}},
    {"CUPTI_ACTIVITY_KIND_MEMSET CUDA_GPU_MEMSET GPU_MEMSET",
     {GLOBAL_ID, PID, [GT_REDACT_NUMBER] = ACTIVITY "value bytes graphNodeId memKind memoryKind"}},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {GLOBAL_ID, PID, [GT_REDACT_NUMBER] = ACTIVITY "graphId graphExecId"}},
    {"CUPTI_ACTIVITY_KIND_RUNTIME CUPTI_ACTIVITY_KIND_DRIVER CUDA_API_RUNTIME CUDA_RUNTIME",
     {GLOBAL_ID, PID, [GT_REDACT_NUMBER] = ACTIVITY "returnValue", [GT_REDACT_CALL] = "nameId name"}},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     {GLOBAL_ID, PID, [GT_REDACT_NUMBER] = ACTIVITY "deprecatedSyncType syncType eventId eventSyncId"}},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", {GLOBAL_ID, PID, [GT_REDACT_NUMBER] = ACTIVITY "timestamp eventId eventSyncId"}},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD",
     {GLOBAL_ID, PID, [GT_REDACT_NUMBER] = ACTIVITY "overheadType", [GT_REDACT_CALL] = "nameId"}},
    {"CUDA_GRAPH_EVENTS CUDA_GRAPH_NODE_EVENTS",
     {GLOBAL_ID, [GT_REDACT_NUMBER] = ACTIVITY "graphId originalGraphId graphExecId graphNodeId originalGraphNodeId",
      [GT_REDACT_CALL] = "nameId"}},
    {"PROFILER_OVERHEAD", {GLOBAL_ID, [GT_REDACT_NUMBER] = "start end returnValue", [GT_REDACT_CALL] = "nameId name"}},
    {"NVTX_EVENTS NVTX_EVENTS_V2 NVTX",
     {[GT_REDACT_GLOBAL_ID] = "globalTid endGlobalTid",
      [GT_REDACT_NUMBER] = "start end rangeId category color domainId uint64Value int64Value uint32Value int32Value",
      [GT_REDACT_REAL] = "doubleValue floatValue",
      [GT_REDACT_RANGE] = "text textId",
      [GT_REDACT_RANGE_TYPE] = "eventType"}},
    {"TARGET_INFO_GPU",
     {[GT_REDACT_GLOBAL_ID] = "vmId",
      [GT_REDACT_NUMBER] =
          "id deviceId isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate smCount cuDevice constantMemory "
          "maxIPC "
          "maxRegistersPerBlock maxShmemPerBlock maxShmemPerBlockOptin maxShmemPerSm maxRegistersPerSm threadsPerWarp "
          "asyncEngines maxWarpsPerSm maxBlocksPerSm maxThreadsPerBlock maxBlockDimX maxBlockDimY maxBlockDimZ "
          "maxGridDimX maxGridDimY maxGridDimZ computeMajor computeMinor smMajor smMinor",
      [GT_REDACT_TERM] = "name chipName"}},
    {"TARGET_INFO_CUDA_DEVICE", {[GT_REDACT_PID] = "pid", [GT_REDACT_NUMBER] = "gpuId cudaId"}},
    {"TARGET_INFO_CUDA_CONTEXT_INFO",
     {PID, [GT_REDACT_NUMBER] = "nullStreamId hwId vmId deviceId contextId parentContextId isGreenContext"}},
    {"TARGET_INFO_CUDA_STREAM", {PID, [GT_REDACT_NUMBER] = "streamId hwId vmId contextId priority flag"}},
    {"ANALYSIS_DETAILS", {[GT_REDACT_GLOBAL_ID] = "globalVid", [GT_REDACT_NUMBER] = "duration"}},
    {"META_DATA_EXPORT META_DATA_CAPTURE", {[GT_REDACT_FACT] = "name", [GT_REDACT_VERSION] = "value"}},
    {"DIAGNOSTIC_EVENT",
     {GLOBAL_ID, [GT_REDACT_NUMBER] = "timestamp timestampType source severity", [GT_REDACT_LOSS] = "text"}},
    {"ENUM_NSYS_EVENT_TYPE ENUM_NSYS_EVENT_CLASS ENUM_CUDA_MEMCPY_OPER ENUM_CUDA_MEM_KIND ENUM_CUDA_MEMPOOL_TYPE "
     "ENUM_CUDA_MEMPOOL_OPER ENUM_CUDA_DEV_MEM_EVENT_OPER ENUM_CUDA_KERNEL_LAUNCH_TYPE "
     "ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG ENUM_CUDA_UNIF_MEM_MIGRATION ENUM_CUDA_UNIF_MEM_ACCESS_TYPE "
     "ENUM_CUDA_FUNC_CACHE_CONFIG ENUM_CUPTI_STREAM_TYPE ENUM_CUPTI_SYNC_TYPE ENUM_CUPTI_OVERHEAD_TYPE "
     "ENUM_DIAGNOSTIC_SEVERITY_LEVEL ENUM_DIAGNOSTIC_SOURCE_TYPE ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE",
     {[GT_REDACT_NUMBER] = "id", [GT_REDACT_TERM] = "name label"}},
};
/* NOLINTEND(bugprone-suspicious-missing-comma) */

const char gt_redact_facts[] =
    "EXPORT_PRODUCT_NAME EXPORT_PRODUCT_VERSION EXPORT_PRODUCT_DATE EXPORT_SCHEMA_VERSION EXPORT_SCHEMA_VERSION_MAJOR "
    "EXPORT_SCHEMA_VERSION_MINOR EXPORT_SCHEMA_VERSION_MICRO CAPTURE_PRODUCT_NAME CAPTURE_PRODUCT_VERSION";

/* Category, mark, ranges of both kinds, the same from text files, domain made and ended. */
static const int64_t range_types[] = {33, 34, 59, 60, 70, 71, 75, 76};

bool gt_redact_allowed_word_in(const char *list, struct gt_str name) {
    while (list && *list) {
        size_t len = strcspn(list, " ");
        if (len == name.len && strncasecmp(list, name.ptr, len) == 0)
            return true;
        list += len;
        list += strspn(list, " ");
    }
    return false;
}

const struct gt_redact_table *gt_redact_allowed_table_find(struct gt_str name) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (gt_redact_allowed_word_in(tables[i].names, name))
            return &tables[i];
    return NULL;
}

enum gt_redact_role gt_redact_allowed_column_role(const struct gt_redact_table *table, struct gt_str name) {
    for (int role = 0; role < GT_REDACT_ROLE_COUNT; role++)
        if (gt_redact_allowed_word_in(table->columns[role], name))
            return (enum gt_redact_role)role;
    return GT_REDACT_NONE;
}

bool gt_redact_allowed_range_type(int64_t type) {
    for (size_t i = 0; i < sizeof range_types / sizeof *range_types; i++)
        if (range_types[i] == type)
            return true;
    return false;
}

bool gt_redact_allowed_loss(struct gt_str message, char *text, size_t size) {
    uint64_t count;
    struct gt_str loss = gt_nsys_loss(message, &count);
    if (loss.len == 0)
        return false;
    const char *divider = loss.ptr[loss.len - 1] == ' ' ? "" : ": ";
    if (count == 1) /* also where no count is reported */
        snprintf(text, size, "%s", loss.ptr);
    else
        snprintf(text, size, "%s%s%llu", loss.ptr, divider, (unsigned long long)count);
    return true;
}
