/* FMI 3.0: the names and types of its functions are those of the standard. */

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef double fmi3Float64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
    fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged
} fmi3IntervalQualifier;
typedef enum {
    fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent
} fmi3DependencyKind;
typedef void (*fmi3LogMessageCallback)(
    fmi3InstanceEnvironment, fmi3Status, fmi3String category, fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3LockCallback)(void);
typedef void (*fmi3IntermediateUpdateCallback)(
    fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean,
    fmi3Boolean *, fmi3Float64 *);

typedef struct {
    Model model;
    double tolerance;
    fmi3LogMessageCallback log;
} Instance;

static fmi3Status report(Instance *one, fmi3String message)
{
    if (one->log)
        one->log(one->model.environment, fmi3Error, "logStatusError", message);
    return fmi3Error;
}

static Instance *instantiate(
    fmi3String token, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    Instance *one = calloc(1, sizeof *one);
    if (!one)
        return 0;
    one->log = log;
    one->model.environment = environment;
    one->tolerance = DEFAULT_TOLERANCE;
    if (!token || strcmp(token, INSTANTIATION_TOKEN) != 0) {
        report(one, "the instantiation token is not that of this FMU");
        free(one);
        return 0;
    }
    model_reset(&one->model);
    return one;
}

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

EXPORT fmi3Status fmi3SetDebugLogging(
    fmi3Instance i, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    (void)i; (void)on; (void)n; (void)categories;
    return fmi3OK;
}

EXPORT fmi3Instance fmi3InstantiateModelExchange(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logs,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)name; (void)resources; (void)visible; (void)logs;
    return instantiate(token, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logs,
    fmi3Boolean event_mode, fmi3Boolean early_return, const fmi3ValueReference intermediate[],
    size_t n, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3IntermediateUpdateCallback update)
{
    (void)name; (void)resources; (void)visible; (void)logs; (void)event_mode; (void)early_return;
    (void)intermediate; (void)n; (void)update;
    return instantiate(token, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logs,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3ClockUpdateCallback update, fmi3LockCallback lock, fmi3LockCallback unlock)
{
    (void)name; (void)token; (void)resources; (void)visible; (void)logs; (void)environment;
    (void)log; (void)update; (void)lock; (void)unlock;
    return 0;
}

EXPORT void fmi3FreeInstance(fmi3Instance i) { free(i); }

EXPORT fmi3Status fmi3EnterInitializationMode(
    fmi3Instance i, fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 start,
    fmi3Boolean has_stop, fmi3Float64 stop)
{
    Instance *one = i;
    (void)has_stop; (void)stop;
    if (has_tolerance && tolerance > 0)
        one->tolerance = tolerance;
    *model_time(&one->model) = start;
    return fmi3OK;
}

EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance i)
{
    Instance *one = i;
    return model_initialize(&one->model) ? fmi3OK : report(one, "the loops cannot be closed");
}

EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance i) { (void)i; return fmi3OK; }
EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance i) { (void)i; return fmi3OK; }
EXPORT fmi3Status fmi3EnterStepMode(fmi3Instance i) { (void)i; return fmi3OK; }
EXPORT fmi3Status fmi3EnterConfigurationMode(fmi3Instance i) { (void)i; return fmi3OK; }
EXPORT fmi3Status fmi3ExitConfigurationMode(fmi3Instance i) { (void)i; return fmi3OK; }
EXPORT fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance i) { (void)i; return fmi3OK; }
EXPORT fmi3Status fmi3Terminate(fmi3Instance i) { (void)i; return fmi3OK; }

EXPORT fmi3Status fmi3Reset(fmi3Instance i)
{
    model_reset(&((Instance *)i)->model);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetFloat64(
    fmi3Instance i, const fmi3ValueReference references[], size_t n, fmi3Float64 values[],
    size_t count)
{
    Instance *one = i;
    for (size_t k = 0; k < n && k < count; ++k)
        if (!model_get(&one->model, references[k], &values[k]))
            return report(one, "there is no variable of this value reference");
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetFloat64(
    fmi3Instance i, const fmi3ValueReference references[], size_t n, const fmi3Float64 values[],
    size_t count)
{
    Instance *one = i;
    for (size_t k = 0; k < n && k < count; ++k)
        if (!model_set(&one->model, references[k], values[k]))
            return report(one, "a value is not finite, or its variable cannot be set");
    return fmi3OK;
}

#define WITHOUT_VARIABLES(KIND, TYPE)                                                             \
    EXPORT fmi3Status fmi3Get##KIND(                                                              \
        fmi3Instance i, const fmi3ValueReference r[], size_t n, TYPE v[], size_t count)           \
    {                                                                                             \
        (void)i; (void)r; (void)v; (void)count;                                                   \
        return n ? fmi3Error : fmi3OK;                                                            \
    }                                                                                             \
    EXPORT fmi3Status fmi3Set##KIND(                                                              \
        fmi3Instance i, const fmi3ValueReference r[], size_t n, const TYPE v[], size_t count)     \
    {                                                                                             \
        (void)i; (void)r; (void)v; (void)count;                                                   \
        return n ? fmi3Error : fmi3OK;                                                            \
    }

WITHOUT_VARIABLES(Float32, float)
WITHOUT_VARIABLES(Int8, int8_t)
WITHOUT_VARIABLES(UInt8, uint8_t)
WITHOUT_VARIABLES(Int16, int16_t)
WITHOUT_VARIABLES(UInt16, uint16_t)
WITHOUT_VARIABLES(Int32, int32_t)
WITHOUT_VARIABLES(UInt32, uint32_t)
WITHOUT_VARIABLES(Int64, int64_t)
WITHOUT_VARIABLES(UInt64, uint64_t)
WITHOUT_VARIABLES(Boolean, fmi3Boolean)
WITHOUT_VARIABLES(String, fmi3String)

#define UNSUPPORTED(NAME, ...)                                                                    \
    EXPORT fmi3Status NAME(fmi3Instance i, __VA_ARGS__) { (void)i; return fmi3Error; }

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
UNSUPPORTED(fmi3GetBinary, const fmi3ValueReference r[], size_t n, size_t sizes[],
            fmi3Binary values[], size_t count)
UNSUPPORTED(fmi3SetBinary, const fmi3ValueReference r[], size_t n, const size_t sizes[],
            const fmi3Binary values[], size_t count)
UNSUPPORTED(fmi3GetClock, const fmi3ValueReference r[], size_t n, fmi3Clock values[])
UNSUPPORTED(fmi3SetClock, const fmi3ValueReference r[], size_t n, const fmi3Clock values[])
UNSUPPORTED(fmi3GetNumberOfVariableDependencies, fmi3ValueReference r, size_t *count)
UNSUPPORTED(fmi3GetVariableDependencies, fmi3ValueReference r, size_t dependents[],
            fmi3ValueReference independents[], size_t elements[], fmi3DependencyKind kinds[],
            size_t count)
UNSUPPORTED(fmi3GetDirectionalDerivative, const fmi3ValueReference unknowns[], size_t n,
            const fmi3ValueReference knowns[], size_t m, const fmi3Float64 seed[], size_t seeds,
            fmi3Float64 found[], size_t count)
UNSUPPORTED(fmi3GetAdjointDerivative, const fmi3ValueReference unknowns[], size_t n,
            const fmi3ValueReference knowns[], size_t m, const fmi3Float64 seed[], size_t seeds,
            fmi3Float64 found[], size_t count)
UNSUPPORTED(fmi3GetIntervalDecimal, const fmi3ValueReference r[], size_t n,
            fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
UNSUPPORTED(fmi3GetIntervalFraction, const fmi3ValueReference r[], size_t n, uint64_t counters[],
            uint64_t resolutions[], fmi3IntervalQualifier qualifiers[])
UNSUPPORTED(fmi3GetShiftDecimal, const fmi3ValueReference r[], size_t n, fmi3Float64 shifts[])
UNSUPPORTED(fmi3GetShiftFraction, const fmi3ValueReference r[], size_t n, uint64_t counters[],
            uint64_t resolutions[])
UNSUPPORTED(fmi3SetIntervalDecimal, const fmi3ValueReference r[], size_t n,
            const fmi3Float64 intervals[])
UNSUPPORTED(fmi3SetIntervalFraction, const fmi3ValueReference r[], size_t n,
            const uint64_t counters[], const uint64_t resolutions[])
UNSUPPORTED(fmi3SetShiftDecimal, const fmi3ValueReference r[], size_t n,
            const fmi3Float64 shifts[])
UNSUPPORTED(fmi3SetShiftFraction, const fmi3ValueReference r[], size_t n,
            const uint64_t counters[], const uint64_t resolutions[])
UNSUPPORTED(fmi3GetOutputDerivatives, const fmi3ValueReference r[], size_t n,
            const int32_t orders[], fmi3Float64 values[], size_t count)
UNSUPPORTED(fmi3ActivateModelPartition, fmi3ValueReference clock, fmi3Float64 time)
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

EXPORT fmi3Status fmi3GetFMUState(fmi3Instance i, fmi3FMUState *state)
{
    if (!*state)
        *state = malloc(sizeof(Model));
    if (!*state)
        return fmi3Fatal;
    memcpy(*state, &((Instance *)i)->model, sizeof(Model));
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetFMUState(fmi3Instance i, fmi3FMUState state)
{
    Model *own = &((Instance *)i)->model;
    void *environment = own->environment;
    memcpy(own, state, sizeof(Model));
    own->environment = environment;
    return fmi3OK;
}

EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance i, fmi3FMUState *state)
{
    (void)i;
    free(*state);
    *state = 0;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance i, fmi3FMUState state, size_t *size)
{
    (void)i; (void)state;
    *size = sizeof(Model);
    return fmi3OK;
}

EXPORT fmi3Status fmi3SerializeFMUState(
    fmi3Instance i, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (size < sizeof(Model))
        return report(i, "the memory for the state is too small");
    memcpy(bytes, state, sizeof(Model));
    return fmi3OK;
}

EXPORT fmi3Status fmi3DeserializeFMUState(
    fmi3Instance i, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    if (size != sizeof(Model))
        return report(i, "the state is not one of this FMU");
    if (!*state)
        *state = malloc(sizeof(Model));
    if (!*state)
        return fmi3Fatal;
    memcpy(*state, bytes, sizeof(Model));
    return fmi3OK;
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(
    fmi3Instance i, fmi3Boolean *again, fmi3Boolean *terminates, fmi3Boolean *nominals,
    fmi3Boolean *states, fmi3Boolean *has_next, fmi3Float64 *next)
{
    Instance *one = i;
    const bool is_closed = model_project(&one->model);
    *again = *nominals = *has_next = false;
    *next = 0;
    *terminates = model_settle(&one->model);
    *states = true;
    return is_closed ? fmi3OK : report(one, "the loops have opened");
}

EXPORT fmi3Status fmi3CompletedIntegratorStep(
    fmi3Instance i, fmi3Boolean no_set, fmi3Boolean *event, fmi3Boolean *terminates)
{
    (void)no_set;
    *event = model_needs_event(&((Instance *)i)->model);
    *terminates = false;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetTime(fmi3Instance i, fmi3Float64 time)
{
    *model_time(&((Instance *)i)->model) = time;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance i, const fmi3Float64 x[], size_t n)
{
    if (n != STATES)
        return report(i, "the number of states is wrong");
    memcpy(model_states(&((Instance *)i)->model), x, sizeof(double) * STATES);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance i, fmi3Float64 x[], size_t n)
{
    if (n != STATES)
        return report(i, "the number of states is wrong");
    memcpy(x, model_states(&((Instance *)i)->model), sizeof(double) * STATES);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance i, fmi3Float64 x[], size_t n)
{
    if (n != STATES)
        return report(i, "the number of states is wrong");
    model_rates(&((Instance *)i)->model, x);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance i, fmi3Float64 z[], size_t n)
{
    if (n != SIGNALS)
        return report(i, "the number of event indicators is wrong");
    model_signals(&((Instance *)i)->model, z);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance i, fmi3Float64 x[], size_t n)
{
    (void)i;
    for (size_t k = 0; k < n; ++k)
        x[k] = 1.0;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance i, size_t *n)
{
    (void)i;
    *n = SIGNALS;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance i, size_t *n)
{
    (void)i;
    *n = STATES;
    return fmi3OK;
}

EXPORT fmi3Status fmi3DoStep(
    fmi3Instance i, fmi3Float64 time, fmi3Float64 length, fmi3Boolean no_set, fmi3Boolean *event,
    fmi3Boolean *terminates, fmi3Boolean *early, fmi3Float64 *last)
{
    Instance *one = i;
    if (!(length > 0))
        return report(one, "the length of a step must be positive");
    const int64_t end = model_advance(&one->model, time + length, one->tolerance);
    (void)no_set;
    *event = *early = false;
    *terminates = end == MOTION_LIMIT;
    *early = *terminates;
    *last = *model_time(&one->model);
    return end == MOTION_FAILED ? report(one, "the integrator cannot go on") : fmi3OK;
}
