/* FMI 2.0: the names and types of its functions are those of the standard. */

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum {
    fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated
} fmi2StatusKind;
typedef void (*fmi2CallbackLogger)(
    fmi2ComponentEnvironment, fmi2String name, fmi2Status, fmi2String category, fmi2String message,
    ...);
typedef struct {
    fmi2CallbackLogger logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

typedef struct {
    Model model;
    double tolerance;
    bool is_ended;
    fmi2CallbackLogger log;
} Instance;

static fmi2Status report(Instance *one, fmi2String message)
{
    if (one->log)
        one->log(one->model.environment, one->model.name, fmi2Error, "logStatusError", message);
    return fmi2Error;
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT fmi2Status fmi2SetDebugLogging(
    fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)c; (void)on; (void)n; (void)categories;
    return fmi2OK;
}

EXPORT fmi2Component fmi2Instantiate(
    fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logs)
{
    Instance *one = calloc(1, sizeof *one);
    (void)type; (void)resources; (void)visible; (void)logs;
    if (!one)
        return 0;
    one->log = functions ? functions->logger : 0;
    one->model.environment = functions ? functions->componentEnvironment : 0;
    one->tolerance = DEFAULT_TOLERANCE;
    if (name)
        strncpy(one->model.name, name, sizeof one->model.name - 1);
    if (!guid || strcmp(guid, INSTANTIATION_TOKEN) != 0) {
        report(one, "the GUID is not that of this FMU");
        free(one);
        return 0;
    }
    model_reset(&one->model);
    return one;
}

EXPORT void fmi2FreeInstance(fmi2Component c) { free(c); }

EXPORT fmi2Status fmi2SetupExperiment(
    fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
    fmi2Boolean has_stop, fmi2Real stop)
{
    Instance *one = c;
    (void)has_stop; (void)stop;
    if (has_tolerance && tolerance > 0)
        one->tolerance = tolerance;
    *model_time(&one->model) = start;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) { (void)c; return fmi2OK; }

EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    Instance *one = c;
    return model_initialize(&one->model) ? fmi2OK : report(one, "the loops cannot be closed");
}

EXPORT fmi2Status fmi2Terminate(fmi2Component c) { (void)c; return fmi2OK; }
EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c) { (void)c; return fmi2OK; }
EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) { (void)c; return fmi2OK; }

EXPORT fmi2Status fmi2Reset(fmi2Component c)
{
    model_reset(&((Instance *)c)->model);
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetReal(
    fmi2Component c, const fmi2ValueReference references[], size_t n, fmi2Real values[])
{
    Instance *one = c;
    for (size_t k = 0; k < n; ++k)
        if (!model_get(&one->model, references[k], &values[k]))
            return report(one, "there is no variable of this value reference");
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetReal(
    fmi2Component c, const fmi2ValueReference references[], size_t n, const fmi2Real values[])
{
    Instance *one = c;
    for (size_t k = 0; k < n; ++k)
        if (!model_set(&one->model, references[k], values[k]))
            return report(one, "a value is not finite, or its variable cannot be set");
    return fmi2OK;
}

#define WITHOUT_VARIABLES(KIND, TYPE)                                                             \
    EXPORT fmi2Status fmi2Get##KIND(                                                              \
        fmi2Component c, const fmi2ValueReference r[], size_t n, TYPE v[])                        \
    {                                                                                             \
        (void)c; (void)r; (void)v;                                                                \
        return n ? fmi2Error : fmi2OK;                                                            \
    }                                                                                             \
    EXPORT fmi2Status fmi2Set##KIND(                                                              \
        fmi2Component c, const fmi2ValueReference r[], size_t n, const TYPE v[])                  \
    {                                                                                             \
        (void)c; (void)r; (void)v;                                                                \
        return n ? fmi2Error : fmi2OK;                                                            \
    }

WITHOUT_VARIABLES(Integer, fmi2Integer)
WITHOUT_VARIABLES(Boolean, fmi2Boolean)
WITHOUT_VARIABLES(String, fmi2String)

EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    if (!*state)
        *state = malloc(sizeof(Model));
    if (!*state)
        return fmi2Fatal;
    memcpy(*state, &((Instance *)c)->model, sizeof(Model));
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    Model *own = &((Instance *)c)->model;
    void *environment = own->environment;
    memcpy(own, state, sizeof(Model));
    own->environment = environment;
    return fmi2OK;
}

EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    (void)c;
    free(*state);
    *state = 0;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c; (void)state;
    *size = sizeof(Model);
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializeFMUstate(
    fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    if (size < sizeof(Model))
        return report(c, "the memory for the state is too small");
    memcpy(bytes, state, sizeof(Model));
    return fmi2OK;
}

EXPORT fmi2Status fmi2DeSerializeFMUstate(
    fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    if (size != sizeof(Model))
        return report(c, "the state is not one of this FMU");
    if (!*state)
        *state = malloc(sizeof(Model));
    if (!*state)
        return fmi2Fatal;
    memcpy(*state, bytes, sizeof(Model));
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetDirectionalDerivative(
    fmi2Component c, const fmi2ValueReference unknowns[], size_t n,
    const fmi2ValueReference knowns[], size_t m, const fmi2Real seed[], fmi2Real found[])
{
    (void)unknowns; (void)n; (void)knowns; (void)m; (void)seed; (void)found;
    return report(c, "directional derivatives are not provided");
}

EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    Instance *one = c;
    const bool is_closed = model_project(&one->model);
    memset(info, 0, sizeof *info);
    info->terminateSimulation = model_settle(&one->model);
    info->valuesOfContinuousStatesChanged = 1;
    return is_closed ? fmi2OK : report(one, "the loops have opened");
}

EXPORT fmi2Status fmi2CompletedIntegratorStep(
    fmi2Component c, fmi2Boolean no_set, fmi2Boolean *event, fmi2Boolean *terminates)
{
    (void)no_set;
    *event = model_needs_event(&((Instance *)c)->model);
    *terminates = 0;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    *model_time(&((Instance *)c)->model) = time;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    if (n != STATES)
        return report(c, "the number of states is wrong");
    memcpy(model_states(&((Instance *)c)->model), x, sizeof(double) * STATES);
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    if (n != STATES)
        return report(c, "the number of states is wrong");
    memcpy(x, model_states(&((Instance *)c)->model), sizeof(double) * STATES);
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real x[], size_t n)
{
    if (n != STATES)
        return report(c, "the number of states is wrong");
    model_rates(&((Instance *)c)->model, x);
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t n)
{
    if (n != SIGNALS)
        return report(c, "the number of event indicators is wrong");
    model_signals(&((Instance *)c)->model, z);
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    (void)c;
    for (size_t k = 0; k < n; ++k)
        x[k] = 1.0;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetRealInputDerivatives(
    fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer orders[],
    const fmi2Real values[])
{
    (void)r; (void)n; (void)orders; (void)values;
    return report(c, "inputs are held during a step");
}

EXPORT fmi2Status fmi2GetRealOutputDerivatives(
    fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer orders[],
    fmi2Real values[])
{
    (void)r; (void)n; (void)orders; (void)values;
    return report(c, "derivatives of outputs are not provided");
}

EXPORT fmi2Status fmi2DoStep(
    fmi2Component c, fmi2Real time, fmi2Real length, fmi2Boolean no_set)
{
    Instance *one = c;
    if (!(length > 0))
        return report(one, "the length of a step must be positive");
    const int64_t end = model_advance(&one->model, time + length, one->tolerance);
    (void)no_set;
    one->is_ended = end == MOTION_LIMIT;
    if (end == MOTION_FAILED)
        return report(one, "the integrator cannot go on");
    return one->is_ended ? fmi2Discard : fmi2OK;
}

EXPORT fmi2Status fmi2CancelStep(fmi2Component c) { (void)c; return fmi2Error; }

EXPORT fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)c; (void)kind;
    *value = fmi2OK;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    *value = *model_time(&((Instance *)c)->model);
    return kind == fmi2LastSuccessfulTime ? fmi2OK : fmi2Discard;
}

EXPORT fmi2Status fmi2GetIntegerStatus(
    fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)c; (void)kind;
    *value = 0;
    return fmi2Discard;
}

EXPORT fmi2Status fmi2GetBooleanStatus(
    fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    *value = ((Instance *)c)->is_ended;
    return kind == fmi2Terminated ? fmi2OK : fmi2Discard;
}

EXPORT fmi2Status fmi2GetStringStatus(
    fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)c; (void)kind;
    *value = "";
    return fmi2Discard;
}
