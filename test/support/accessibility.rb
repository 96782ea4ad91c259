# frozen_string_literal: true

require_relative "chromium"

# Checks the page of a browser for faults that keep people out. For PeltonTests. With PELTON_AXE=.../axe.min.js it asks
# axe-core, too.
module Accessibility
  RULES = File.read(File.expand_path("accessibility.js", __dir__))
  NAMED =
    %w[button link textbox searchbox checkbox combobox listbox option navigation region log complementary image].freeze
  AXE = ENV["PELTON_AXE"]
  CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, [tabindex='0']"

  private

  # @return [Array<String>]
  def faults(browser)
    unnamed = browser.accessible_nodes.select { |role, name| NAMED.include?(role) && name.empty? }.map do |role, _|
      "no name: #{role}"
    end
    browser.evaluate(RULES) + unnamed + axe_faults(browser)
  end

  def axe_faults(browser)
    return [] unless AXE
    browser.evaluate(File.read(AXE) + "; 0")
    browser.evaluate(<<~JS)
      axe.run().then(({violations}) => violations.filter(({impact}) => ["serious", "critical"].includes(impact))
        .flatMap(({id, nodes}) => nodes.map((node) => `axe ${id}: ${node.target} ${node.failureSummary}`)))
    JS
  end

  # @return [Hash{String => Object}] what Tab reaches: the `count` of elements, those that do not show the focus
  #   (`unmarked`), and those that were `missed`. What is loaded meanwhile is not asked for
  def tab_stops(browser, most: 1000)
    browser.evaluate("window.reached = new Set(); window.unmarked = []; window.present = " \
      "[...document.querySelectorAll(#{CONTROLS.to_json})]; 0")
    most.times do
      browser.press("Tab")
      done = browser.evaluate(<<~JS)
        (() => {
          const element = document.activeElement
          if (element === document.body) return false // between the end and the beginning
          if (reached.has(element)) return true
          reached.add(element)
          const style = getComputedStyle(element.type === "file" ? element.closest("label") ?? element : element)
          if (style.outlineStyle === "none" || !parseFloat(style.outlineWidth)) unmarked.push(element.outerHTML.slice(0, 80))
        })()
      JS
      break if done
    end
    browser.evaluate(<<~JS)
      ({count: reached.size, unmarked, missed: present
        .filter((element) => element.isConnected && element.getClientRects().length && !element.disabled && !reached.has(element)).map((element) => element.outerHTML.slice(0, 80)).slice(0, 5)})
    JS
  end
end
