import { LineChart } from 'echarts/charts'
import {
  AxisPointerComponent,
  GridComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent
} from 'echarts/components'
import { init, registerTheme, use, type ECharts, type EChartsCoreOption } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { onBeforeUnmount, onMounted, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { themeName } from '../theme/theme.ts'
import { echartsTheme } from '../theme/tokens.ts'

use([
  LineChart,
  GridComponent,
  TooltipComponent,
  MarkLineComponent,
  MarkAreaComponent,
  AxisPointerComponent,
  CanvasRenderer
])
registerTheme('taskdeck-dark', echartsTheme('dark'))
registerTheme('taskdeck-light', echartsTheme('light'))

/**
 * The one way to ECharts: a canvas chart in `element` that follows its size and the theme, draws at most once a frame, and is
 * disposed with the component. Updates merge by id (series that are gone are removed), so a chart is never cleared.
 */
export function useChart(element: Ref<HTMLElement | null>, option: Ref<EChartsCoreOption>): ShallowRef<ECharts | null> {
  const chart = shallowRef<ECharts | null>(null)
  let frame = 0
  // It tells the first size in the frame of the mount: made before, all would be laid out and drawn twice.
  const observer = new ResizeObserver(() => {
    if (chart.value) chart.value.resize()
    else begin()
  })

  function begin(): void {
    if (!element.value) return
    chart.value = init(element.value, `taskdeck-${themeName.value}`, { renderer: 'canvas' })
    draw()
  }
  function draw(): void {
    cancelAnimationFrame(frame)
    frame = 0
    chart.value?.setOption(option.value, { replaceMerge: ['series'], lazyUpdate: false })
  }
  function drawSoon(): void {
    if (chart.value && frame === 0) frame = requestAnimationFrame(draw)
  }

  onMounted(() => {
    if (element.value) observer.observe(element.value)
  })
  watch(option, drawSoon)
  watch(themeName, (name) => {
    chart.value?.setTheme(`taskdeck-${name}`)
    drawSoon()
  })
  onBeforeUnmount(() => {
    cancelAnimationFrame(frame)
    observer.disconnect()
    chart.value?.dispose()
    chart.value = null
  })
  return chart
}
