import text from '@xyflow/react/dist/base.css' with { type: 'text' }

let adopted = false

/** Gives the page the styles of the drawing, once. They come with this part, because no other screen needs them. */
export function adoptFlowStyles(): void {
  if (adopted) return
  adopted = true
  const sheet = new CSSStyleSheet()
  // In the layer of the parts of pages, so that the screen's own styles have the last word.
  sheet.replaceSync(`@layer kit{${text}}`)
  document.adoptedStyleSheets.push(sheet)
}
