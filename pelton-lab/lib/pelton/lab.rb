# frozen_string_literal: true

require "pelton/version"
require_relative "lab/experiment"

module Pelton
  # The lab measures what asynchronous code costs and gains, on your machine and for your workload: blocking and
  # asynchronous contenders against each other, in fresh processes, in a shuffled order, with their answers checked.
  #
  # An experiment is one file. Those that come with Pelton lie in pelton/lab/experiments; yours looks the same:
  #
  # @example pelton lab my_experiment.rb
  #   Pelton::Lab.experiment "report" do
  #     about "Twenty pages from our API"
  #     race "pages", size: 20 do
  #       baseline "Net::HTTP", style: "blocking" do |run|
  #         require "net/http"
  #         run.measure { run.size.times { run.expect("200", Net::HTTP.get_response(URI(URL)).code) } }
  #       end
  #       contender "Net::HTTP in fibers", style: "direct" do |run|
  #         require "net/http"
  #         require "pelton"
  #         run.measure do
  #           Pelton.run do
  #             run.size.times { Pelton.spawn { run.expect("200", Net::HTTP.get_response(URI(URL)).code) } }
  #           end
  #         end
  #       end
  #     end
  #   end
  module Lab
    # The command line is wrong: an unknown experiment, a file without an experiment, a bad option.
    class UsageError < StandardError; end

    # A race lacks something that it needs: a server, a gem.
    class Unavailable < StandardError; end

    @experiments = []

    class << self
      # Declares an experiment; the block is its description, see {Experiment}.
      def experiment(name, path = caller_locations(1, 1).first.absolute_path, &description)
        @experiments << Experiment.new(name, path, &description)
      end

      # The experiments that a file declares.
      # @raise [UsageError] when it declares no experiment
      def load(path)
        @experiments = []
        Kernel.load(path)
        if @experiments.empty?
          raise UsageError, "#{path} declares no experiment (Pelton::Lab.experiment \"name\" do ... end)"
        end
        @experiments
      end

      # The files of the experiments that come with Pelton, by name.
      def shipped
        Dir[File.join(__dir__, "lab/experiments/*.rb")].sort.to_h { |path| [File.basename(path, ".rb"), path] }
      end
    end
  end
end
