import { h, type FunctionalComponent } from 'vue'

interface IconProps {
  /** Width and height in pixels. */
  size?: number
}

/** An icon in the colour of its text; attributes and listeners reach its `svg`. Decoration: what it means stands beside it or in a label. */
export function icon(...paths: readonly string[]): FunctionalComponent<IconProps> {
  const line = { 'stroke-width': 1.6, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }
  const drawing = { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', ...line }
  const component: FunctionalComponent<IconProps> = ({ size = 24 }) =>
    h(
      'svg',
      { class: 'line-icon', width: size, height: size, 'aria-hidden': 'true', ...drawing },
      paths.map((d) => h('path', { d }))
    )
  component.props = { size: Number }
  return component
}
