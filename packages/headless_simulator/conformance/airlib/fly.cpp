// Flies missions with AirSim's own AirLib, without Unreal, and prints the poses.
//
// It stands in for Unreal's game loop: a steppable clock of 3 ms, one world with FastPhysicsEngine, one
// MultiRotorPhysicsBody with SimpleFlight per drone, and flat ground at z = 0 that reports a collision as
// Unreal's sweep does. AirLib's API calls block; each drone's calls run in a thread of their own, and exactly one
// thread runs at any time: a call that waits hands over, the world steps, everybody looks at the clock again.
// AirLib is compiled with CancelToken's inner sleep replaced by `airlib_trial_wait_one_step`.
//
// Reads missions from standard input, one word line after the other (see flight_missions.py), prints
//   mission NAME / sample DRONE STEP x y z qw qx qy qz / answer DRONE NUMBER STEP true|false|error TEXT

#include <condition_variable>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "common/ClockFactory.hpp"
#include "common/SteppableClock.hpp"
#include "physics/FastPhysicsEngine.hpp"
#include "physics/World.hpp"
#include "vehicles/multirotor/MultiRotorPhysicsBody.hpp"
#include "vehicles/multirotor/firmwares/simple_flight/SimpleFlightQuadXParams.hpp"

using namespace msr::airlib;

namespace {

constexpr int kScheduler = -1;

// Who may run: the scheduler or one of the scripts.
class Turn {
  public:
    void give(int to) {
        std::unique_lock<std::mutex> lock(mutex_);
        const int me = holder_;
        holder_ = to;
        changed_.notify_all();
        changed_.wait(lock, [&] { return holder_ == me; });
    }
    void await(int me) {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return holder_ == me; });
    }
    void finish() {
        std::unique_lock<std::mutex> lock(mutex_);
        holder_ = kScheduler;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int holder_ = kScheduler;
};

Turn* turn = nullptr;

// What Unreal's MultirotorPawnSimApi does in every physics step: environment first, then the rotors.
class Pawn : public UpdatableObject {
  public:
    Pawn(const std::string& name_of, float yaw_deg, float altitude_m) : name(name_of) {
        setting_.vehicle_name = name_of;
        setting_.vehicle_type = AirSimSettings::kVehicleTypeSimpleFlight;
        params_ = std::make_unique<SimpleFlightQuadXParams>(&setting_, std::make_shared<SensorFactory>());
        params_->initialize(&setting_);
        api = params_->createMultirotorApi();
        Kinematics::State start = Kinematics::State::zero();
        start.pose.orientation = VectorMath::toQuaternion(0, 0, Utils::degreesToRadians(yaw_deg));
        kinematics_ = std::make_unique<Kinematics>(start);
        Environment::State around;
        around.position = start.pose.position;
        around.geo_point = GeoPoint(47.641468, -122.140165, altitude_m);
        environment_ = std::make_unique<Environment>(around);
        body = std::make_unique<MultiRotorPhysicsBody>(params_.get(), api.get(), kinematics_.get(), environment_.get());
        api->setSimulatedGroundTruth(&kinematics_->getState(), environment_.get());
    }

    void resetImplementation() override {
        kinematics_->reset();
        environment_->reset();
        api->reset();
        body->reset();
        body->setGrounded(true);
    }

    void update() override {
        UpdatableObject::update();
        environment_->setPosition(kinematics_->getPose().position);
        environment_->update();
        body->update();
    }

    UpdatableObject* getPhysicsBody() override { return body.get(); }

    // Reports the ground as Unreal's sweep does: the body stops at the surface, the response comes in the next step.
    void touch_ground() {
        const Vector3r at = body->getPose().position;
        if (at.z() <= 0 || body->isGrounded()) return;
        CollisionInfo hit;
        hit.has_collided = true;
        hit.normal = Vector3r(0, 0, -1);
        hit.position = hit.impact_point = Vector3r(at.x(), at.y(), 0);
        hit.penetration_depth = 0;
        hit.time_stamp = ClockFactory::get()->nowNanos();
        body->setCollisionInfo(hit);
    }

    std::string name;
    std::unique_ptr<MultirotorApiBase> api;
    std::unique_ptr<MultiRotorPhysicsBody> body;

  private:
    AirSimSettings::VehicleSetting setting_;
    std::unique_ptr<MultiRotorParams> params_;
    std::unique_ptr<Kinematics> kinematics_;
    std::unique_ptr<Environment> environment_;
};

std::vector<Vector3r> path_of(std::istream& in) {
    int count;
    in >> count;
    std::vector<Vector3r> points(count);
    for (auto& point : points) in >> point.x() >> point.y() >> point.z();
    return points;
}

YawMode yaw_of(std::istream& in) {
    YawMode yaw;
    int is_rate;
    in >> is_rate >> yaw.yaw_or_rate;
    yaw.is_rate = is_rate != 0;
    return yaw;
}

std::vector<float> numbers_of(std::istream& in, int count) {
    std::vector<float> numbers(count);
    for (auto& number : numbers) in >> number;
    return numbers;
}

DrivetrainType drive_of(std::istream& in) {
    return static_cast<DrivetrainType>(int(numbers_of(in, 1)[0]));
}

using Call = std::function<bool(Pawn&, std::istream&)>;

void wait_for(double seconds) {
    const TTimePoint since = ClockFactory::get()->nowNanos();
    while (ClockFactory::get()->elapsedSince(since) < seconds - 1e-9) turn->give(kScheduler);
}

template <typename Method> Call five_numbers(Method method) {
    return [method](Pawn& p, std::istream& in) {
        const auto n = numbers_of(in, 5);
        return (p.api.get()->*method)(n[0], n[1], n[2], n[3], n[4]);
    };
}

template <typename Method> Call velocity(Method method) {
    return [method](Pawn& p, std::istream& in) {
        const auto n = numbers_of(in, 4);
        const auto drive = drive_of(in);
        return (p.api.get()->*method)(n[0], n[1], n[2], n[3], drive, yaw_of(in));
    };
}

template <typename Method> Call gains(Method method) {
    return [method](Pawn& p, std::istream& in) {
        const auto kp = numbers_of(in, 3), ki = numbers_of(in, 3), kd = numbers_of(in, 3);
        (p.api.get()->*method)(kp, ki, kd);
        return true;
    };
}

const std::map<std::string, Call>& calls() {
    using Api = MultirotorApiBase;
    static const std::map<std::string, Call> table = {
        {"wait", [](Pawn&, std::istream& in) { wait_for(numbers_of(in, 1)[0]); return true; }},
        {"enableApiControl", [](Pawn& p, std::istream& in) { p.api->enableApiControl(numbers_of(in, 1)[0] != 0); return true; }},
        {"armDisarm", [](Pawn& p, std::istream& in) { return p.api->armDisarm(numbers_of(in, 1)[0] != 0); }},
        {"simSetVehiclePose", [](Pawn& p, std::istream& in) {
            const auto n = numbers_of(in, 7);
            p.body->setPose(Pose(Vector3r(n[0], n[1], n[2]), Quaternionr(n[3], n[4], n[5], n[6])));
            p.body->setGrounded(false);
            return true;
        }},
        {"takeoff", [](Pawn& p, std::istream& in) { return p.api->takeoff(numbers_of(in, 1)[0]); }},
        {"land", [](Pawn& p, std::istream& in) { return p.api->land(numbers_of(in, 1)[0]); }},
        {"goHome", [](Pawn& p, std::istream& in) { return p.api->goHome(numbers_of(in, 1)[0]); }},
        {"hover", [](Pawn& p, std::istream&) { return p.api->hover(); }},
        {"moveToPosition", [](Pawn& p, std::istream& in) {
            const auto n = numbers_of(in, 5);
            const auto drive = drive_of(in);
            const auto yaw = yaw_of(in);
            const auto ahead = numbers_of(in, 2);
            return p.api->moveToPosition(n[0], n[1], n[2], n[3], n[4], drive, yaw, ahead[0], ahead[1]);
        }},
        {"moveOnPath", [](Pawn& p, std::istream& in) {
            const auto path = path_of(in);
            const auto n = numbers_of(in, 2);
            const auto drive = drive_of(in);
            const auto yaw = yaw_of(in);
            const auto ahead = numbers_of(in, 2);
            return p.api->moveOnPath(path, n[0], n[1], drive, yaw, ahead[0], ahead[1]);
        }},
        {"moveToZ", [](Pawn& p, std::istream& in) {
            const auto n = numbers_of(in, 3);
            const auto yaw = yaw_of(in);
            const auto ahead = numbers_of(in, 2);
            return p.api->moveToZ(n[0], n[1], n[2], yaw, ahead[0], ahead[1]);
        }},
        {"moveByVelocity", velocity(&Api::moveByVelocity)},
        {"moveByVelocityZ", velocity(&Api::moveByVelocityZ)},
        {"moveByVelocityBodyFrame", velocity(&Api::moveByVelocityBodyFrame)},
        {"moveByVelocityZBodyFrame", velocity(&Api::moveByVelocityZBodyFrame)},
        {"moveByManual", velocity(&Api::moveByManual)},
        {"moveByRC", [](Pawn& p, std::istream& in) {
            const auto n = numbers_of(in, 4);
            RCData sticks;
            sticks.roll = n[0], sticks.pitch = n[1], sticks.throttle = n[2], sticks.yaw = n[3];
            sticks.is_initialized = sticks.is_valid = true;
            p.api->moveByRC(sticks);
            return true;
        }},
        {"rotateToYaw", [](Pawn& p, std::istream& in) {
            const auto n = numbers_of(in, 3);
            return p.api->rotateToYaw(n[0], n[1], n[2]);
        }},
        {"rotateByYawRate", [](Pawn& p, std::istream& in) {
            const auto n = numbers_of(in, 2);
            return p.api->rotateByYawRate(n[0], n[1]);
        }},
        {"moveByMotorPWMs", five_numbers(&Api::moveByMotorPWMs)},
        {"moveByRollPitchYawZ", five_numbers(&Api::moveByRollPitchYawZ)},
        {"moveByRollPitchYawThrottle", five_numbers(&Api::moveByRollPitchYawThrottle)},
        {"moveByRollPitchYawrateThrottle", five_numbers(&Api::moveByRollPitchYawrateThrottle)},
        {"moveByRollPitchYawrateZ", five_numbers(&Api::moveByRollPitchYawrateZ)},
        {"moveByAngleRatesZ", five_numbers(&Api::moveByAngleRatesZ)},
        {"moveByAngleRatesThrottle", five_numbers(&Api::moveByAngleRatesThrottle)},
        {"setAngleRateControllerGains", gains(&Api::setAngleRateControllerGains)},
        {"setAngleLevelControllerGains", gains(&Api::setAngleLevelControllerGains)},
        {"setVelocityControllerGains", gains(&Api::setVelocityControllerGains)},
        {"setPositionControllerGains", gains(&Api::setPositionControllerGains)},
    };
    return table;
}

struct Cancel {
    int drone;
    long step;
};

struct Mission {
    std::string name;
    Vector3r wind = Vector3r::Zero();
    long steps = 0, every = 33;
    std::vector<std::unique_ptr<Pawn>> pawns;
    std::vector<std::vector<std::string>> scripts;
    std::vector<Cancel> cancels;
    std::vector<bool> over;  // scripts that have made their last call
};

long steps_done = 0;

void run_script(Mission& mission, int me) {
    turn->await(me);
    Pawn& pawn = *mission.pawns[me];
    for (size_t number = 0; number < mission.scripts[me].size(); ++number) {
        std::istringstream line(mission.scripts[me][number]);
        std::string method, answer;
        line >> method;
        try {
            answer = calls().at(method)(pawn, line) ? "true" : "false";
        }
        catch (const std::exception& error) {
            answer = std::string("error ") + error.what();
        }
        if (!line) answer = "error too few arguments for " + method;
        std::printf("answer %s %zu %ld %s\n", pawn.name.c_str(), number, steps_done, answer.c_str());
    }
    mission.over[me] = true;
    turn->finish();
}

void sample(const Mission& mission) {
    for (const auto& pawn : mission.pawns) {
        const Pose& at = pawn->body->getPose();
        std::printf("sample %s %ld %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", pawn->name.c_str(), steps_done,
                    at.position.x(), at.position.y(), at.position.z(), at.orientation.w(), at.orientation.x(),
                    at.orientation.y(), at.orientation.z());
    }
}

void fly(Mission& mission) {
    std::printf("mission %s\n", mission.name.c_str());
    Turn the_turn;
    turn = &the_turn;
    World world(std::make_unique<FastPhysicsEngine>(true, mission.wind));
    for (auto& pawn : mission.pawns) world.insert(pawn.get());
    world.reset();
    std::vector<std::thread> threads;
    mission.over.assign(mission.pawns.size(), false);
    for (size_t i = 0; i < mission.pawns.size(); ++i) threads.emplace_back(run_script, std::ref(mission), int(i));
    for (steps_done = 0;; ++steps_done) {
        if (steps_done % mission.every == 0 || steps_done == mission.steps) sample(mission);
        if (steps_done == mission.steps) break;
        for (const Cancel& cancel : mission.cancels)
            if (cancel.step == steps_done) mission.pawns[cancel.drone]->api->cancelLastTask();
        for (size_t i = 0; i < mission.pawns.size(); ++i)
            if (!mission.over[i]) the_turn.give(int(i));
        world.update();
        for (auto& pawn : mission.pawns) pawn->touch_ground();
    }
    std::fflush(stdout);
    std::_Exit(0);  // scripts that still wait for their turn are not waited for
}

}  // namespace

void airlib_trial_wait_one_step() { turn->give(kScheduler); }

int main() {
    Utils::getSetMinLogLevel(true, 100);
    Mission mission;
    float altitude = 122;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line);
        std::string word;
        in >> word;
        if (word == "mission") in >> mission.name;
        else if (word == "wind") in >> mission.wind.x() >> mission.wind.y() >> mission.wind.z();
        else if (word == "altitude") in >> altitude;
        else if (word == "length") in >> mission.steps >> mission.every;
        else if (word == "drone") {
            std::string name;
            float yaw_deg;
            in >> name >> yaw_deg;
            mission.pawns.push_back(std::make_unique<Pawn>(name, yaw_deg, altitude));
            mission.scripts.emplace_back();
        }
        else if (word == "call") {
            std::string rest;
            std::getline(in, rest);
            mission.scripts.back().push_back(rest);
        }
        else if (word == "cancel") {
            Cancel cancel;
            in >> cancel.drone >> cancel.step;
            mission.cancels.push_back(cancel);
        }
        else if (word == "fly") {
            ClockFactory::get(std::make_shared<SteppableClock>(3E-3));
            fly(mission);
        }
    }
    return 1;
}
