# frozen_string_literal: true

require "pelton/http/settings"

# The files that say what the table of `pelton serve`'s settings says: the reference page, and the signatures of the
# methods of its configuration file.
module SettingsFiles
  GROUPS = {program: "The server", master: "The master", server: "Requests"}.freeze
  TYPES = {text: "String", file: "String", folders: "(String | Array[String])", map: "(String | Hash[String, String])",
           names: "Array[String]", address: "String", path: "String", topics: "String",
           switch: "bool", count: "Integer",
           number: "Numeric", seconds: "Numeric", bytes: "Numeric"}.freeze

  # @return [Hash{String => String}] their paths and texts
  def self.texts = {"docs/reference/settings.md" => page, "sig/http_settings.rbs" => signatures}

  def self.page
    <<~MARKDOWN
      # Settings of pelton serve

      Each setting is a method of `config/pelton.rb` (`workers 2`), a flag (`--workers 2`) and, except for `environment`, a variable (`PELTON_WORKERS=2`).
      Flags override variables, and variables override the file. Times are in seconds. Sizes are in bytes, or in text with a unit: `"64M"`. Switches are
      true or false. `bind`, `port`, `ready`, `companion`, `on_boot`, `on_shutdown` and `before_fork` take more than a value: see
      [the server's guide](../guides/http_server.md#configuration).
      #{GROUPS.map { |taker, title| section(taker, title) }.join}
      `pelton serve` reads no other variables that begin with `PELTON_` but `PELTON_CONFIG` (the file), `PELTON_BIND` (addresses),
      `PELTON_WATCHDOG`, `PELTON_BACKEND` and `PELTON_SOCKETS`; a misspelt one keeps it from starting.
    MARKDOWN
  end

  def self.section(taker, title)
    rows = Pelton::HTTP::SETTINGS.select { |setting| setting.taken_by == taker }.map do |setting|
      "| `#{setting.name}` | #{setting.kind} | #{setting.shown_default} | #{setting.text} |\n"
    end
    "\n## #{title}\n\n| setting | kind | default | |\n|---|---|---|---|\n#{rows.join}"
  end

  def self.signatures
    methods = Pelton::HTTP::SETTINGS.map do |setting|
      type = TYPES.fetch(setting.kind)
      optional = "?" if setting.default.nil? || %i[number seconds bytes].include?(setting.kind)
      taken = [type.delete("()"), (:String unless type.match?(/String\b(?!\])/)), (:Symbol if setting.choices)]
      taken = taken.compact.join(" | ")
      taken = "(#{taken})" if taken.include?("|")
      several = "*" if setting.kind == :folders
      "      def #{setting.name}: () -> #{type}#{optional}\n" \
        "#{" " * (setting.name.size + 9)} | (#{several}#{taken}#{optional} value) -> #{type}#{optional}\n"
    end
    <<~RBS
      # Made from the table of settings by `rake settings`.
      module Pelton
        module HTTP
          class Configuration
      #{methods.reject { |text| text.include?("def worker_memory:") }.join.chomp}
          end
        end
      end
    RBS
  end
  private_class_method :page, :section, :signatures
end
