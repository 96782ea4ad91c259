# frozen_string_literal: true

module Pelton
  module Lab
    class ReportHtml
      # The picture in the header: a water wheel.
      WHEEL = "<svg class=\"wheel\" viewBox=\"-50 -50 100 100\" aria-hidden=\"true\"><circle r=\"27\"/>" \
        "<circle r=\"6\"/>" \
        "#{(0...12).map { |n| "<path transform=\"rotate(#{n * 30})\" d=\"M-9 -46a9 9 0 0 0 18 0M0 -37V-27\"/>" }.join}</svg>"

      STYLE = <<~CSS
        :root {
          color-scheme: light dark;
          --paper: #f6f5f1; --card: #ffffff; --ink: #1b2530; --soft: #5b6773; --rule: #dfdcd3; --accent: #0a6a94;
          --blocking: #7d8791; --callback: #2f6fd0; --deferrable: #0f9384; --direct: #d0622a; --other: #8657b5;
          --ahead: #1480b8; --behind: #d9772b; --good: #1d7f4a; --bad: #c03a2b; --uncertain: #9a6200; --uncertain-back: #fdf0d5;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #12171d; --card: #1a2129; --ink: #e6eaee; --soft: #9aa6b2; --rule: #2d3742; --accent: #5bb6de;
            --blocking: #8e99a5; --callback: #6d9ff0; --deferrable: #38bfae; --direct: #ef8a55; --other: #b28ae0;
            --ahead: #3aa4dc; --behind: #e08b45; --good: #57c78a; --bad: #ef7d6f; --uncertain: #f0bd62; --uncertain-back: #3a2e17;
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0 auto; padding: 0 clamp(14px, 4vw, 40px); max-width: 1120px; background: var(--paper); color: var(--ink);
          font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; font-variant-numeric: tabular-nums; }
        header { display: flex; gap: clamp(12px, 3vw, 26px); align-items: center; padding: clamp(24px, 6vw, 56px) 0 8px; }
        .wheel { flex: none; width: clamp(52px, 10vw, 92px); fill: none; stroke: var(--accent); stroke-width: 3.5; stroke-linecap: round; }
        h1 { margin: 0; font-size: clamp(1.5rem, 4.6vw, 2.6rem); line-height: 1.15; letter-spacing: -.02em; text-wrap: balance; }
        header p { margin: 6px 0 0; color: var(--soft); }
        h2 { margin: 52px 0 4px; font-size: 1.45rem; letter-spacing: -.01em; }
        h3 { margin: 0; font-size: 1.12rem; }
        h4 { margin: 22px 0 6px; font-size: .95rem; }
        p { margin: 6px 0 14px; max-width: 74ch; }
        .about, .facts { color: var(--soft); }
        .facts { font-size: .87rem; margin-top: 2px; }
        article { margin: 18px 0; padding: clamp(14px, 3vw, 26px); background: var(--card); border: 1px solid var(--rule); border-radius: 14px; }
        .cards { display: grid; gap: 14px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 220px), 1fr)); margin: 14px 0; }
        .card { display: flex; flex-direction: column; gap: 4px; padding: 16px 18px; background: var(--card); border: 1px solid var(--rule); border-radius: 14px;
          color: inherit; text-decoration: none; font-size: .92rem; line-height: 1.35; }
        .card:hover, .card:focus-visible { border-color: var(--accent); }
        .card b { align-self: flex-start; font-size: 1.9rem; line-height: 1.1; letter-spacing: -.02em; } .card b:not(.uncertain) { color: var(--accent); }
        .card small { margin-top: auto; padding-top: 6px; color: var(--soft); }
        .uncertain { color: var(--uncertain); background: var(--uncertain-back); border-radius: 4px; padding: 0 4px; }

        .style-blocking { --hue: var(--blocking); } .style-callback { --hue: var(--callback); } .style-deferrable { --hue: var(--deferrable); }
        .style-direct { --hue: var(--direct); } .style-other { --hue: var(--other); }

        .bars { margin: 16px 0 6px; display: grid; gap: 9px; }
        .row { display: grid; grid-template-columns: 25% 1fr 196px; gap: 14px; align-items: center; }
        .who { text-align: right; line-height: 1.2; } .who .name { display: block; font-weight: 600; font-size: .92rem; }
        .style { color: var(--hue, var(--soft)); font-size: .8rem; }
        .track { position: relative; height: 24px; background: linear-gradient(var(--rule), var(--rule)) left / 1px 100% no-repeat; }
        .bars[style] .track::after { content: ""; position: absolute; top: -5px; bottom: -5px; left: var(--base); border-left: 2px dashed var(--soft); opacity: .55; }
        .bar { position: absolute; inset: 3px auto 3px 0; min-width: 2px; border-radius: 0 5px 5px 0; background: var(--hue); opacity: .8; }
        .base .bar { background: repeating-linear-gradient(135deg, var(--hue) 0 6px, color-mix(in srgb, var(--hue) 75%, var(--card)) 6px 12px); }
        .dot { position: absolute; top: 50%; width: 7px; height: 7px; margin: -3.5px; border-radius: 50%; background: var(--card); border: 1.5px solid var(--ink); opacity: .75; }
        .figure { font-size: .9rem; white-space: nowrap; color: var(--soft); display: flex; gap: .35em; align-items: baseline; } .figure b { color: var(--ink); }
        .ratio { margin-left: auto; font-weight: 600; } .ratio:not(.uncertain) { color: var(--accent); }

        figure { margin: 14px 0; min-width: 0; } figcaption { color: var(--soft); font-size: .87rem; }
        .lines figcaption { margin-top: 8px; }
        .plot { position: relative; height: clamp(240px, 44vw, 400px); margin: 14px 8px 34px 52px; border-left: 1px solid var(--rule); border-bottom: 1px solid var(--rule); }
        .plot svg, .fields svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; pointer-events: none; }
        .guide { stroke: var(--rule); vector-effect: non-scaling-stroke; }
        .line { fill: none; stroke: var(--hue); stroke-width: 2.5; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
        .point { position: absolute; width: 10px; height: 10px; margin: -5px; border-radius: 50%; background: var(--hue); border: 2px solid var(--card); }
        .tick { position: absolute; font-size: .8rem; color: var(--soft); white-space: nowrap; }
        .tick.y { right: calc(100% + 8px); transform: translateY(-50%); } .tick.x { top: calc(100% + 6px); transform: translateX(-50%); }
        .legend { list-style: none; margin: 0; padding: 0; display: grid; gap: 4px 22px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); font-size: .9rem; }
        .legend svg { vertical-align: middle; margin-right: 8px; } .legend small { display: block; margin-left: 36px; color: var(--soft); }

        .grids { display: grid; gap: 20px 28px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); }
        .grid { margin: 8px 0 0; }
        .map { display: grid; grid-template-columns: auto 1fr; gap: 6px 8px; margin-top: 8px; font-size: .84rem; }
        .fields { position: relative; display: grid; grid-template-columns: repeat(var(--columns), 1fr); grid-template-rows: repeat(var(--rows), 38px); border-radius: 8px; overflow: hidden; }
        .field { display: grid; place-items: center; background: color-mix(in srgb, var(--side, var(--card)) var(--strength, 0%), var(--card)); }
        .ahead { --side: var(--ahead); } .behind { --side: var(--behind); }
        .key { padding: 1px 8px; border-radius: 4px; color: var(--ink); background: color-mix(in srgb, var(--side) 45%, var(--card)); }
        .frontier { fill: none; stroke: var(--ink); stroke-width: 3; stroke-dasharray: 7 5; vector-effect: non-scaling-stroke; }
        .ticks { color: var(--soft); } .ticks.y { display: grid; align-items: center; text-align: right; } .ticks.x { grid-column: 2; display: grid; grid-template-columns: repeat(var(--columns), 1fr); text-align: center; }

        .then-now { display: flex; flex-wrap: wrap; gap: 6px 34px; margin-top: 22px; border-top: 1px solid var(--rule); }
        .then-now > div { flex: 1 1 auto; min-width: 0; max-width: 100%; }
        .then-now table { font-size: .82rem; } .then-now th, .then-now td { padding-right: 7px; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-size: .86rem; }
        th, td { padding: 5px 10px 5px 0; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); vertical-align: top; }
        th { color: var(--soft); font-weight: 500; } th:first-child, td:first-child { text-align: left; padding-right: 18px; }
        td .style { margin-left: 8px; }
        .targets { background: var(--card); border: 1px solid var(--rule); border-radius: 14px; border-collapse: separate; border-spacing: 0; }
        .targets th, .targets td { padding: 8px 14px 8px 0; } .targets th:first-child, .targets td:first-child { padding-left: 18px; color: var(--soft); }
        .targets td:nth-child(2), .targets th:nth-child(2) { text-align: left; white-space: normal; min-width: 15em; }
        .targets tr:last-child td { border-bottom: 0; }
        .verdict { color: var(--soft); } .met { color: var(--good); font-weight: 600; } .missed { color: var(--bad); font-weight: 600; } .not-certain { color: var(--uncertain); } .few-rounds { font-weight: 400; }
        details { margin-top: 16px; } summary { cursor: pointer; color: var(--accent); font-size: .92rem; }
        .absent { margin: 14px 0 0; padding-left: 20px; color: var(--soft); font-size: .87rem; overflow-wrap: anywhere; }
        pre { margin: 0; padding: 12px 14px; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card); border: 1px solid var(--rule); border-radius: 10px; font-size: .82rem; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 20px; margin: 0; font-size: .9rem; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
        footer { margin: 48px 0 36px; color: var(--soft); font-size: .87rem; }
        @media (max-width: 680px) {
          .row { grid-template-columns: 1fr auto; gap: 2px 10px; } .who { text-align: left; } .who .name { display: inline; margin-right: 8px; }
          .track { grid-column: 1 / -1; grid-row: 2; } .figure { justify-content: flex-end; } .ratio { margin-left: 8px; } .plot { margin-left: 44px; }
          .targets, .targets tbody { display: block; } .targets thead { display: none; }
          .targets tr { display: grid; grid-template-columns: auto 1fr auto; gap: 2px 12px; padding: 10px 14px; border-bottom: 1px solid var(--rule); } .targets tr:last-child { border: 0; }
          .targets td, .targets td:first-child { padding: 0; border: 0; min-width: 0; } .targets td:nth-child(2) { grid-column: 2 / -1; min-width: 0; }
          .targets td:nth-child(3) { grid-column: 2; text-align: left; } .targets td:nth-child(4) { grid-row: 2; grid-column: 2; justify-self: end; } .targets td:nth-child(5) { grid-row: 2; grid-column: 3; }
          .then-now > div { flex-basis: 100%; }
          .bars[style] .track::after { top: 0; bottom: 0; } td .style { display: none; }
          .map { font-size: .76rem; } .fields { grid-template-rows: repeat(var(--rows), 34px); }
        }
        @media print { body { max-width: none; } article, .card { break-inside: avoid; } }
      CSS
    end
  end
end
