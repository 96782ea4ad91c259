# frozen_string_literal: true

require "etc"
require "time"
require_relative "../version"
require_relative "pinning"

module Pelton
  module Lab
    # The machine and the versions that figures belong to.
    class Environment
      # @return [Hash{Symbol => Object}]
      def to_h
        @to_h ||= {pelton: VERSION, commit:, ruby: RUBY_DESCRIPTION, yjit: yjit?, kernel:, cpu:, cores: Etc.nprocessors,
                   usable_cores: Pinning.allowed.size, load:, time: Time.now.iso8601}
      end

      private

      # The commit of this copy of Pelton, when it is a checkout; with "+" when files were changed since.
      def commit
        root = File.expand_path("../../..", __dir__)
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

      def cpu
        File.read("/proc/cpuinfo")[/^model name\s*:\s*(.+)$/, 1]
      rescue Errno::ENOENT
        nil
      end

      # How many processes wanted to run in the last minute: a busy machine's figures say little.
      def load
        File.read("/proc/loadavg").to_f
      rescue Errno::ENOENT
        nil
      end
    end
  end
end
