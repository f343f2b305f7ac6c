// A text area that grows with its text, also in browsers without `field-sizing`.

/** Let a field be as high as its text; the browser's own way wins where there is one. */
export function autosize(field: HTMLTextAreaElement, text: () => string): (() => void) | undefined {
  if (CSS.supports("field-sizing", "content")) return undefined;
  return $effect.root(() => {
    $effect(() => {
      text();
      field.style.setProperty("height", "auto");
      field.style.setProperty("height", `${field.scrollHeight}px`);
    });
  });
}
