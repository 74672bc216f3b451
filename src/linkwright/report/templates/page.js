for (const box of document.querySelectorAll(".copy")) {
  const button = box.querySelector("button"), text = box.querySelector("pre");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch (refused) {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

// In print nothing is folded but sources.
const folded = [];
addEventListener("beforeprint", () => {
  folded.push(...document.querySelectorAll("details.shown:not([open])"));
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of folded.splice(0)) one.open = false;
});
