/* The model behind the FMI functions: states, inputs, parameters, outputs, events. */

typedef struct {
    SimulationBuffers b;
    bool is_changed; /* the integrator must start afresh */
    void *environment;
    char name[64];
} Model;

enum {
    FIRST_STATE = 1,
    FIRST_RATE = FIRST_STATE + STATES,
    FIRST_INPUT = FIRST_RATE + STATES,
    FIRST_PARAMETER = FIRST_INPUT + INPUTS,
    FIRST_OUTPUT = FIRST_PARAMETER + PARAMETERS,
    FIRST_SIGNAL = FIRST_OUTPUT + OUTPUTS,
    END_OF_VARIABLES = FIRST_SIGNAL + SIGNALS
};

static double *model_time(Model *m) { return &m->b.buffers_clock[CLOCK_TIME]; }
static double *model_states(Model *m) { return m->b.buffers_states; }
static double *model_p(Model *m) { return m->b.buffers_parameters; }

static void model_reset(Model *m)
{
    m->b = simulation_start;
    m->is_changed = true;
}

static void model_rates(Model *m, double *rates)
{
    double margin[1];
    tape_rates(model_time(m), model_states(m), model_p(m), rates, margin);
}

/* Event indicators. Closed gaps are shifted off zero, as FMI requires of the start after an event. */
static void model_signals(Model *m, double *signals)
{
#if SIGNALS > 0
    tape_signals(model_time(m), model_states(m), model_p(m), signals);
    for (int i = 0; i < SIGNALS; ++i)
        signals[i] += INDICATOR_SHIFT;
#else
    (void)m;
    (void)signals;
#endif
}

/* Fills the variable of a value reference; returns false where there is none. */
static bool model_get(Model *m, unsigned reference, double *value)
{
    if (reference == 0)
        *value = *model_time(m);
    else if (reference < FIRST_RATE)
        *value = model_states(m)[reference - FIRST_STATE];
    else if (reference < FIRST_INPUT) {
        double rates[STATES];
        model_rates(m, rates);
        *value = rates[reference - FIRST_RATE];
    } else if (reference < FIRST_OUTPUT)
        *value = model_p(m)[reference - FIRST_INPUT];
    else if (reference < FIRST_SIGNAL) {
        double outputs[OUTPUTS];
        tape_outputs(model_time(m), model_states(m), model_p(m), outputs);
        *value = outputs[reference - FIRST_OUTPUT];
    } else if (reference < END_OF_VARIABLES) {
        double signals[SIGNALS + 1];
        model_signals(m, signals);
        *value = signals[reference - FIRST_SIGNAL];
    } else
        return false;
    return true;
}

/* Sets a state, an input or a parameter; returns false for anything else. */
static bool model_set(Model *m, unsigned reference, double value)
{
    double *place = 0;
    if (reference >= FIRST_STATE && reference < FIRST_RATE)
        place = &model_states(m)[reference - FIRST_STATE];
    else if (reference >= FIRST_INPUT && reference < FIRST_OUTPUT)
        place = &model_p(m)[reference - FIRST_INPUT];
    if (!place || !isfinite(value))
        return false;
    if (*place != value)
        m->is_changed = true;
    *place = value;
    return true;
}

/* Puts the states onto the constraints; returns whether the loops are closed. */
static bool model_project(Model *m)
{
#if NEEDS_PROJECTION
    double projected[STATES], gap[2];
    tape_projection(model_time(m), model_states(m), model_p(m), projected, gap);
    if (!(gap[0] <= CLOSED_RESIDUAL))
        return false;
    memcpy(model_states(m), projected, sizeof projected);
    m->is_changed = true;
#else
    (void)m;
#endif
    return true;
}

/* Closes the loops at the start; returns false where this is impossible. */
static bool model_initialize(Model *m)
{
#if HAS_LOOPS
    ClosingBuffers c = closing_start;
    c.time[0] = *model_time(m);
    memcpy(c.configuration, model_states(m), sizeof c.configuration);
    memcpy(c.parameters, model_p(m), sizeof c.parameters);
    run_closing(&c);
    if (!(c.residual[0] <= CLOSED_RESIDUAL))
        return false;
    memcpy(model_states(m), c.configuration, sizeof c.configuration);
#endif
    m->is_changed = true;
    return model_project(m);
}

/* Lets stops act; returns whether the motion ends at one of them. */
static bool model_settle(Model *m)
{
#if SIGNALS > 0
    m->b.stop_buffers_end[0] = MOTION_FAILED;
    m->b.stop_buffers_closed_gap[0] = LOCATED_GAP;
    m->b.stop_buffers_rebound_share[0] = LOCATED_SHARE;
    run_settling(&m->b);
    m->is_changed = true;
    return m->b.stop_buffers_end[0] == MOTION_LIMIT;
#else
    (void)m;
    return false;
#endif
}

/* Returns whether an event was missed: an indicator is below zero and falls on, since both of its
   passages were in one step of the importer. What holds the motion has a force without rate. */
static bool model_has_missed_event(Model *m)
{
#if SIGNALS > 0
    double signals[SIGNALS], free_signals[SIGNALS], rates[SIGNALS], slopes[STATES];
    model_rates(m, slopes);
    tape_signals(model_time(m), model_states(m), model_p(m), signals);
    tape_stop_margins(
        model_time(m), model_states(m), model_p(m), slopes, free_signals, rates);
    for (int i = 0; i < SIGNALS; ++i)
        if (signals[i] < -DRIFT_TOLERANCE && !(rates[i] > 0 && rates[i] < UNKNOWN_RATE))
            return true;
#else
    (void)m;
#endif
    return false;
}

/* Returns whether the states have left the constraints, or are beyond a stop. */
static bool model_needs_event(Model *m)
{
    if (model_has_missed_event(m))
        return true;
#if NEEDS_PROJECTION
    double projected[STATES], gap[2];
    tape_projection(model_time(m), model_states(m), model_p(m), projected, gap);
    for (int i = 0; i < STATES; ++i)
        if (!(fabs(projected[i] - model_states(m)[i]) <= DRIFT_TOLERANCE))
            return true;
#else
    (void)m;
#endif
    return false;
}

/* Integrates to a time; returns a MOTION_… value. */
static int64_t model_advance(Model *m, double until, double tolerance)
{
    double *clock = m->b.buffers_clock;
    clock[CLOCK_STOP] = until;
    clock[CLOCK_RTOL] = tolerance;
    clock[CLOCK_ATOL] = 0.1 * tolerance;
    if (m->is_changed)
        clock[CLOCK_STEP] = 0.0;
    m->is_changed = false;
    m->b.stop_buffers_closed_gap[0] = simulation_start.stop_buffers_closed_gap[0];
    m->b.stop_buffers_rebound_share[0] = simulation_start.stop_buffers_rebound_share[0];
    m->b.buffers_progress[PROGRESS_QUIET] = 0;
    run_simulation(&m->b);
    return m->b.stop_buffers_end[0];
}
