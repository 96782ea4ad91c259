# frozen_string_literal: true

# Draws the README's picture from a report of the lab:
#
#     bin/lab hello memcached --json tmp/lab.json
#     ruby docs/images/chart.rb tmp/lab.json > docs/images/chart.svg
#
# Without a file it takes chart.json beside it: the two races of such a report that the picture shows.

require "cgi/escape"
require "json"

# One SVG that needs no script and no font, and follows the reader's light or dark colours.
class Chart
  # A race of the lab: its place in the report, its heading, and the contenders' names in the picture. A contender
  # without a name here is not drawn.
  Panel = Struct.new(:experiment, :race, :pin, :title, :about, :names)

  PANELS = [
    Panel.new("hello", "keep-alive", "apart", "HTTP requests per second", "hello world, one core, 64 connections",
      {"nginx, return 200" => "nginx, without an application", "Pelton" => "Pelton, Rack", "iodine" => "iodine, Rack",
       "node" => "node",
       "Puma, 5 threads" => "Puma, Rack, 5 threads", "Falcon" => "Falcon, Rack"}),
    Panel.new("memcached", "set, get, delete", "same", "memcached operations per second",
      "set, get and delete short values; client and server share one core",
      {"Pelton, 100 fibers" => "Pelton, 100 fibers", "Pelton, a block each" => "Pelton, callbacks",
       "em-synchrony, 100 fibers" => "em-synchrony, 100 fibers",
       "EM::P::Memcache, all at once" => "EventMachine, callbacks", "libmemcached" => "libmemcached, blocking",
       "Pelton, one fiber" => "Pelton, one fiber",
       "dalli" => "dalli, blocking"})
  ].freeze

  WIDTH, MARGIN, LEFT, RIGHT, ROW, HEAD = 760, 24, 240, 96, 28, 58

  STYLE = <<~CSS
    text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: #1b2530; }
    .paper { fill: #ffffff; stroke: #dfdcd3; } .title { font-size: 16px; font-weight: 600; } .soft { fill: #5b6773; } .bar { fill: #a9b2ba; }
    .own .bar { fill: #0a78ad; } .own text { font-weight: 600; } .dot { fill: #ffffff; stroke: #1b2530; stroke-width: 1.2; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6eaee; } .paper { fill: #1a2129; stroke: #2d3742; } .soft { fill: #9aa6b2; } .bar { fill: #56626e; } .own .bar { fill: #3aa4dc; }
      .dot { fill: #1a2129; stroke: #e6eaee; }
    }
  CSS

  def initialize(report)
    @contenders = report.fetch("contenders")
  end

  # @return [String] the SVG
  def to_s
    top = MARGIN
    panels = PANELS.map { |panel| draw(panel, top).tap { top += HEAD + panel.names.size * ROW + MARGIN } }
    <<~SVG
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{WIDTH} #{top}" width="#{WIDTH}" height="#{top}" role="img" aria-label="Pelton beside other servers and clients">
      <style>
      #{STYLE.chomp}
      </style>
      <rect class="paper" x=".5" y=".5" width="#{WIDTH - 1}" height="#{top - 1}" rx="12"/>
      #{panels.join("\n")}
      </svg>
    SVG
  end

  private

  def draw(panel, top)
    rows = rows_of(panel)
    longest = rows.flat_map { |_, speed, rounds| [speed, *rounds] }.max
    lines = rows.each_with_index.map { |row, index| bar(*row, top + HEAD + index * ROW, longest) }
    [text(MARGIN, top + 16, panel.title, "title"), text(MARGIN, top + 38, panel.about, "soft"), *lines].join("\n")
  end

  # The contenders with their medians and rounds in operations per second, the fastest first.
  def rows_of(panel)
    found = @contenders.select do |one|
      one.values_at("experiment", "race", "pin") == [panel.experiment, panel.race, panel.pin] && one["median"]
    end
    found.filter_map do |one|
      if panel.names[one["name"]]
        [panel.names[one["name"]], 1e6 / one["median"], one["rounds"].map { |round| 1e6 / round["us_per_operation"] }]
      end
    end
      .sort_by { |_, speed| -speed }
  end

  def bar(name, speed, rounds, top, longest)
    across = WIDTH - LEFT - RIGHT - MARGIN
    dots = rounds.map do |round|
      %(<circle class="dot" cx="#{(LEFT + across * round / longest).round(1)}" cy="#{top + 9}" r="3"/>)
    end
    %(<g class="#{name.start_with?("Pelton") ? "own" : "other"}">#{text(LEFT - 12, top + 14, name, nil, "end")}) +
      %(<rect class="bar" x="#{LEFT}" y="#{top}" width="#{(across * speed / longest).round(1)}" height="18" rx="3"/>) +
      dots.join +
      %(#{text(WIDTH - MARGIN, top + 14, speed.round(-2).to_s.gsub(/(?<=\d)(?=(\d{3})+$)/, ","), nil, "end")}</g>)
  end

  def text(x, y, words, style = nil, anchor = nil)
    attributes = "#{%( class="#{style}") if style}#{%( text-anchor="#{anchor}") if anchor}"
    %(<text x="#{x}" y="#{y}"#{attributes}>#{CGI.escapeHTML(words)}</text>)
  end
end

puts Chart.new(JSON.parse(File.read(ARGV.fetch(0, "#{__dir__}/chart.json")))) if $PROGRAM_NAME == __FILE__
