
// The viewer as a widget of notebooks (anywidget): traits q, parameters, picked and t, both ways.
const WIDGET_PERIOD = 50;

function sameNumbers(one, other) { return one.length === other.length && one.every((x, k) => Object.is(x, other[k]) || Math.abs(x - other[k]) < 1e-15); }

export default {
  render({ model, el }) {
    const root = document.createElement("div");
    root.className = "lw-live lw-widget";
    el.append(root);
    const handle = mountViewer(root, JSON.parse(model.get("_scene")), {});
    let timer = 0, isReady = false, isTold = false;
    const tell = () => {
      timer = 0;
      const state = handle.state;
      if (!state) return;
      let isChanged = false;
      const set = (name, value) => { model.set(name, value); isChanged = true; };
      if (!sameNumbers(state.q, model.get("q"))) set("q", state.q);
      const before = model.get("parameters");
      if (Object.entries(state.parameters).some(([name, x]) => before[name] !== x)) set("parameters", { ...state.parameters });
      if ((state.picked ?? "") !== model.get("picked")) set("picked", state.picked ?? "");
      if (state.t !== model.get("t")) set("t", state.t);
      if (isChanged) { isTold = true; model.save_changes(); isTold = false; }
    };
    const stop = [handle.on("change", () => { if (isReady) timer ||= setTimeout(tell, WIDGET_PERIOD); })];
    const follow = () => {
      if (isTold || !handle.state) return;
      const change = {}, state = handle.state;
      if (!sameNumbers(model.get("q"), state.q)) change.q = model.get("q");
      const parameters = model.get("parameters");
      if (Object.entries(parameters).some(([name, x]) => state.parameters[name] !== x)) change.parameters = parameters;
      if (model.get("picked") !== (state.picked ?? "")) change.picked = model.get("picked") || null;
      if (Object.keys(change).length) handle.set(change);
    };
    const names = ["q", "parameters", "picked"].map((name) => `change:${name}`);
    for (const name of names) model.on(name, follow);
    const redraw = async () => { await handle.update(JSON.parse(model.get("_scene"))); };
    model.on("change:_scene", redraw);
    Promise.resolve(handle.ready).then(() => { follow(); isReady = true; });
    return () => {
      clearTimeout(timer);
      for (const end of stop) end?.();
      for (const name of names) model.off(name, follow);
      model.off("change:_scene", redraw);
      handle.dispose();
    };
  },
};
