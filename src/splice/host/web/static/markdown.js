// The only place where HTML enters the page: fragments that the server rendered and cleaned, block by block.

const policy = window.trustedTypes?.createPolicy("splice", { createHTML: (html) => html }) ?? {
  createHTML: (html) => html,
};

/** Show cleaned fragments below an element; those that are as they were stay, so that a stream does not jump. */
export function setHtml(element, blocks) {
  const before = element.splice.blocks ?? [];
  blocks.forEach((block, place) => {
    if (before[place] === block) return;
    const part = element.children[place] ?? element.appendChild(document.createElement("div"));
    part.className = "md";
    part.innerHTML = policy.createHTML(block);
  });
  while (element.children.length > blocks.length) element.lastElementChild.remove();
  element.splice.blocks = blocks;
}
