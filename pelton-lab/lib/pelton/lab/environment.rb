# frozen_string_literal: true

require "etc"
require "time"
require "pelton/version"
require_relative "report/number_format"
require_relative "pinning"

module Pelton
  module Lab
    # The machine and the versions that measurements belong to.
    class Environment
      # @return [Hash{Symbol => Object}]
      def to_h
        @to_h ||= {pelton: VERSION, commit:, ruby: RUBY_DESCRIPTION, yjit: yjit?, kernel:, cpu:, cores: Etc.nprocessors,
                   usable_cores: Pinning.allowed.size, load:, time: Time.now.iso8601}
      end

      # @param machine [Hash{Symbol => Object}] as {#to_h} returns it
      # @return [String, nil] a sentence for the reports when other programs were using the machine at the start
      def self.busy(machine)
        load, cores = machine.values_at(:load, :usable_cores)
        return unless load && load > cores / 2.0
        "Other programs were using the machine when the lab began (load #{load} on " \
        "#{NumberFormat.count(cores, "core")})."
      end

      private

      # The commit of this checkout of Pelton, with "+" when files have been changed since; nil outside a checkout.
      def commit
        root = File.expand_path("../../../..", __dir__)
        return unless File.exist?(File.join(root, ".git"))
        head = git(root, "rev-parse", "--short", "HEAD")
        head && (git(root, "status", "--porcelain", "--untracked-files=no").to_s.empty? ? head : "#{head}+")
      end

      def git(root, *command)
        text = IO.popen(["git", "-C", root, *command], err: File::NULL, &:read).strip
        text if $?.success?
      rescue Errno::ENOENT
        nil
      end

      def yjit?
        defined?(RubyVM::YJIT) ? RubyVM::YJIT.enabled? : false
      end

      def kernel
        Etc.uname.values_at(:sysname, :release, :machine).join(" ")
      end

      def cpu = proc_file("cpuinfo")&.[](/^model name\s*:\s*(.+)$/, 1)

      # The number of runnable processes, averaged over the last minute.
      def load = proc_file("loadavg")&.to_f

      def proc_file(name) = (File.read("/proc/#{name}") if File.exist?("/proc/#{name}"))
    end
  end
end
